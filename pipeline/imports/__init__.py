"""What if others have fetched the pages?"""
