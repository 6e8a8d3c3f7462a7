"""What does the user type? One file per command, in the sections of `crawlctl help`."""
