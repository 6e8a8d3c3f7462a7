"""Which commands create, change, check, copy and clean up a crawl?"""
