"""What is the user shown?"""
