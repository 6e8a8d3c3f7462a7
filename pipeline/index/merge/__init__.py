"""How do runs and segments become fewer segments?"""
