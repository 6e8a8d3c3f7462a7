"""What is the command that uses the crawl doing now?"""
