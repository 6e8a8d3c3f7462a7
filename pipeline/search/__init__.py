"""Answers to queries: their language, the search itself, and what is shown of what was found."""
