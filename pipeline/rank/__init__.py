"""Which pages matter, by the links between them?"""
