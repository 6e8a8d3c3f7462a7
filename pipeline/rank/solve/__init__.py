"""How is PageRank computed, in one task or in many?"""
