"""Packages of the standard library that make a small demo web: 86 pages on all its sites, not 367."""

FEW_PACKAGES = ("asyncio", "email", "http", "json", "pprint", "unittest")
