"""What would EMR be asked for, and what would it cost?"""
