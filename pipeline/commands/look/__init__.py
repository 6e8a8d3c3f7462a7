"""Which commands show what a crawl knows, and change nothing but settings?"""
