"""What is a URL, and to which host does it belong?"""
