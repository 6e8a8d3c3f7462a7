"""What can a user change in a crawl by hand, and how is a change undone?"""
