"""How does a posting list lie in a segment?"""
