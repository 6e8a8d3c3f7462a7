"""How are fetched pages saved, and found again after a kill?"""
