"""How does a job run on Amazon EMR?"""
