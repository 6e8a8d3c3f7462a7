"""Who may write to a store?"""
