"""What may a crawler ask a host for, by its robots.txt?"""
