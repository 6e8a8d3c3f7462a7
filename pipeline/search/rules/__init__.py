"""How does the operator of a crawl change answers: by synonyms, pins, blocks and boosts?"""
