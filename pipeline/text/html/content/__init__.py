"""Which block of a page has its content, and which parts of this block are not content?"""
