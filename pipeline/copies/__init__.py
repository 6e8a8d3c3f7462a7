"""How is a crawl copied to another store, and how are the copied files checked?"""
