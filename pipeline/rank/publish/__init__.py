"""Where do the ranks go?"""
