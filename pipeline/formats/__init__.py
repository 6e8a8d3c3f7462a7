"""What do the bytes of a file look like?"""
