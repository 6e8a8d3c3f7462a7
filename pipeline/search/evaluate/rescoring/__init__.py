"""How are the best documents of a query scored again, by where its words stand?"""
