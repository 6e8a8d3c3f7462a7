"""Which words does a text have, and in which language?"""
