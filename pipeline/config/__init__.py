"""Every setting, its type and default, and where its value came from."""
