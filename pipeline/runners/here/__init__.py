"""How does a job run on this machine?"""
