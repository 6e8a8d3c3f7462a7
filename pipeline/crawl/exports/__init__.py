"""How do other programs get the archive?"""
