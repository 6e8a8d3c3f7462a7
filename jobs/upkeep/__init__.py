"""Which jobs keep a crawl in order between its rounds: check, repair, purge, revise, copy?"""
