"""How far is a task, and how does the user see it?"""
