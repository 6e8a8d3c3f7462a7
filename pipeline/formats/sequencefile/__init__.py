"""How are Hadoop's SequenceFiles and MapFiles read and written?"""
