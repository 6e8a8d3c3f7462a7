"""How does a round change what we know?"""
