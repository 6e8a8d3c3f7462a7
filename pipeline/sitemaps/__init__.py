"""Which pages does a host list, in its sitemaps and feeds?"""
