"""How does numpy hold thousands of strings or lists at once?"""
