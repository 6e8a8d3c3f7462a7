"""What does a user change in a crawl by hand, and how is it undone?"""
