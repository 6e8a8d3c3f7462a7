"""What did a visitor ask for, and what is shown to them?"""
