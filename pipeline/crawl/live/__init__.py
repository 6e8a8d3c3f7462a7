"""How does a command say what it is doing, and how is that followed from elsewhere?"""
