"""How are crawls checked and repaired, and how is garbage deleted?"""
