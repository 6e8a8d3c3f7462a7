"""Which commands prepare a crawl on Hadoop or Amazon EMR?"""
