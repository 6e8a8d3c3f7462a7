"""Which text of a page is left out because other pages of its host have it too?"""
