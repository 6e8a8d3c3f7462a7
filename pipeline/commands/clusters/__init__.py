"""Which commands prepare for Hadoop and Amazon EMR?"""
