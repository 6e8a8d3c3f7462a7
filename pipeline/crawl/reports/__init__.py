"""What does a command tell about a crawl?"""
