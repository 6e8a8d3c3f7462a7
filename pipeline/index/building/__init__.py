"""How does a batch of documents become a run?"""
