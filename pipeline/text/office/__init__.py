"""What does an Office document, an e-book or another XML document say?"""
