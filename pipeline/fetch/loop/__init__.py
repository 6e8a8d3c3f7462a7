"""How are URLs handed out and answers taken?"""
