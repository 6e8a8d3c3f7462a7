"""How is a page asked for?"""
