"""How are files kept in HDFS?"""
