"""Which blocks of a page are also on other pages of its host?"""
