"""How much may clients ask for?"""
