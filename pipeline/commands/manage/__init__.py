"""Which commands make, change, check, move and shrink a crawl?"""
