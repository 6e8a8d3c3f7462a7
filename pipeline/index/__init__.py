"""How is the index built, stored and kept up to date?"""
