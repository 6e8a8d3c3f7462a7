"""What do we know of each URL?"""
