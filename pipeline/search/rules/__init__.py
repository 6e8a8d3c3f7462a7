"""Which answers does the person who runs the crawl change: by synonyms, pins, blocks and boosts?"""
