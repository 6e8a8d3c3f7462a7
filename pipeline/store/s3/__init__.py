"""How are files kept in S3?"""
