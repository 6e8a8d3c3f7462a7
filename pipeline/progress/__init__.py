"""How far is a task, and how is the user told?"""
