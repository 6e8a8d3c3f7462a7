"""How do programs that were written for other search engines ask this one?"""
