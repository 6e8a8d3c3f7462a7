"""Which posting lists answer a query?"""
