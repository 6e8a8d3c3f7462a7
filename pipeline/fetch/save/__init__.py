"""How is what was fetched saved, and found again after a kill?"""
