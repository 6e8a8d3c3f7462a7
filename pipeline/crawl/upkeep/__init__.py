"""What happens to a whole crawl when it is checked, repaired, purged or freed of garbage?"""
