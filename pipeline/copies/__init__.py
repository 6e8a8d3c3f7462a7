"""Copies of a crawl in another place, or in another number of partitions."""
