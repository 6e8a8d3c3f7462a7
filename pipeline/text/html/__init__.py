"""What does an HTML page show, and where does it link to?"""
