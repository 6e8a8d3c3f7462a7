"""Which words has a text, and in which language?"""
