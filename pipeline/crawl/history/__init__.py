"""What has each round cost, and what has it brought?"""
