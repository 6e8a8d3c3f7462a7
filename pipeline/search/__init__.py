"""Which pages answer a query?"""
