"""The fetch task: what one partition does in one round, from due URLs to saved runs."""
