"""Which block of a page has its content, and what in it is not content?"""
