"""Which documents match a query, and which are the best?"""
