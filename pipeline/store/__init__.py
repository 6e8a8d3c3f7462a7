"""Where do files live?"""
