"""In which file does a running command say what it does now?"""
