"""How do the nodes of a cluster get crawlctl and its dependencies?"""
