"""Which commands search, index and rank pages?"""
