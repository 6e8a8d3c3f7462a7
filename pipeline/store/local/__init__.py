"""How are files kept in a folder of this machine?"""
