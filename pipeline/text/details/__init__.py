"""What does a page say about itself beside its text?"""
