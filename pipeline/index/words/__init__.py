"""Which words, titles and headings have the pages, as people write them?"""
