"""How does a crawl get another number of partitions?"""
