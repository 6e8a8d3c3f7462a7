"""Which commands are about crawlctl itself?"""
