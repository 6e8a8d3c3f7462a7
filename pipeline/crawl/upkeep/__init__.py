"""What keeps a crawl whole and small: which checks, repairs and collections of garbage?"""
