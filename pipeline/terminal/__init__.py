"""What may a person be shown, and how wide is it?"""
