"""What is a segment, file by file and byte by byte?"""
