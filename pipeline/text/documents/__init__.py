"""What kind of document is a body, and what does it hold?"""
