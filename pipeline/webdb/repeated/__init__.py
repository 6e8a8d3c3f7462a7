"""Which blocks do most pages of a host have?

A fetch task saves the hashes of the blocks of its pages with its run (text/repeated/page_blocks.py), the
WebDB merge keeps the hashes of some pages per host, and the fetch tasks of the next round leave out repeated
blocks.
"""
