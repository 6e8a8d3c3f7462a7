"""What can be set, and where did a value come from?"""
