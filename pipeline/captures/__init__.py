"""Where in the archives is each answer stored?"""
