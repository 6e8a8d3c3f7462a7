"""What does a fetch task do?"""
