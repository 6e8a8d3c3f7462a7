"""What is a run, file by file and byte by byte?"""
