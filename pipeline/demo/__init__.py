"""What can be crawled without a network?"""
