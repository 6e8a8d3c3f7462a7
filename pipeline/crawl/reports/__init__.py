"""What does a command report about a crawl?"""
