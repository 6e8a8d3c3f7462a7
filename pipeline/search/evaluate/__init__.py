"""Which documents match, and which are the best?"""
