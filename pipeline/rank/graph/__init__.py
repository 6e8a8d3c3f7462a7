"""Which page links to which?"""
