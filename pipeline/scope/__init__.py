"""Does a URL belong to the crawl?"""
