"""Where files live and how a set of them becomes the current state of a crawl."""
