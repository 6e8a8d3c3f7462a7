"""What keeps a crawl whole and small: checks, repairs, garbage collection."""
