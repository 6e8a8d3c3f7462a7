"""What was asked, and what is shown of it?"""
