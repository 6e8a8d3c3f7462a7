"""A web to crawl without a network: the documentation of this interpreter's standard library, on loopback."""
