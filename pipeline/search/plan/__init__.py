"""Which posting lists answer it?"""
