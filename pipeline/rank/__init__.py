"""Which pages matter?"""
