"""What does the operator of a crawl say about answers: synonyms, pins, blocks and boosts?"""
