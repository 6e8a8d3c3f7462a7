"""How are web archives (WARC and ARC) read and written?"""
