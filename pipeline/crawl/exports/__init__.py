"""How is the archive exported for other programs?"""
