"""Which blocks of a page stand on other pages of its host too?"""
