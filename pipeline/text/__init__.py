"""What does a fetched document say?"""
