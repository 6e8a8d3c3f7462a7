"""What is each page worth?"""
