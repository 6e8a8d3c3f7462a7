"""What did the user mean to type?"""
