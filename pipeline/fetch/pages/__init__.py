"""What becomes of an answer?"""
