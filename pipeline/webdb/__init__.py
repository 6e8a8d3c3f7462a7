"""The URL database: its records, the life of a URL, and the merge that carries it forward."""
