"""What does an answer mean: outcome, document, new URLs?"""
