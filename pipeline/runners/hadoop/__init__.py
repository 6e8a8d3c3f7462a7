"""How does a job run on a Hadoop cluster?"""
