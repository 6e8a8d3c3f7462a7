"""How does a crawl move to another place?"""
