"""How do pages get in that another crawler has fetched?"""
