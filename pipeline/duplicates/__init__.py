"""Which pages of the whole crawl say nearly the same?"""
