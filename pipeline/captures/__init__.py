"""Where in the archives does each answer lie?"""
