"""Which commands bring pages into a crawl?"""
