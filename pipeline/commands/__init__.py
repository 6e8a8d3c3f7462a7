"""What does the user type? One file per command."""
