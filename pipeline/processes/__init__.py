"""How do processes start, stop, recognise each other and clean up after themselves?"""
