"""What is damaged in a crawl and can be saved, and what is to be deleted for good?"""
