"""Which texts are equal, or nearly equal?"""
