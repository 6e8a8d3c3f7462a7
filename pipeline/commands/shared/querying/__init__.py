"""How is a query read from the command line, run, and its answer printed?"""
