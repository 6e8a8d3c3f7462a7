"""How is a crawl copied to another store, and how are its files checked?"""
