"""crawlctl: a search engine one person can run."""

__version__ = "0.1.0"
