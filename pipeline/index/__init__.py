"""How are documents found by their words?"""
