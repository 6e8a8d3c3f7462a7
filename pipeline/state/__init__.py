"""Which files of a store count?"""
