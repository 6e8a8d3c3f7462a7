"""Which commands find and rank pages?"""
