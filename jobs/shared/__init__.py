"""What do all jobs share?"""
