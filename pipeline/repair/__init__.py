"""What do the tasks do that check, repair and purge the files of one partition?"""
