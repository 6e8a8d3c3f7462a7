"""What does a command do to a crawl?"""
