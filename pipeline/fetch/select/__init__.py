"""Which URLs does a task fetch, and which does it know already?"""
