"""Which words, titles and headings do the pages have, as people write them?"""
