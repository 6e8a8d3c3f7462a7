"""How is a page written as Markdown?"""
