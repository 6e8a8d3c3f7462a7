"""Where is the index, and which snapshot of it is current?"""
