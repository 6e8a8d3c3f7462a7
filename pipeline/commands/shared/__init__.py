"""What do the commands share?"""
