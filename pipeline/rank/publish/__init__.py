"""How do the computed ranks become tables of pages and of hosts?"""
