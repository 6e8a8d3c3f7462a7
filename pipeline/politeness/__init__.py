"""Which host may be asked next, and when?"""
