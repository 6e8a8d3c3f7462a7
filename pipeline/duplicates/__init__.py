"""Near duplicates over the whole crawl."""
