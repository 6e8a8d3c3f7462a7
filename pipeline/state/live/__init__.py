"""What does the command do that is using the crawl now?"""
