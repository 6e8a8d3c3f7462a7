"""What does a host allow, and which pages does it list?"""
