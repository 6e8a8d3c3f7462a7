"""Where does a job run?"""
