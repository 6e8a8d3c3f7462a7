"""What do programs see of a crawl?"""
