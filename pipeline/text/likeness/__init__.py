"""How alike are two texts?"""
