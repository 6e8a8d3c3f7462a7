"""Which files of a store count, and who may write?"""
