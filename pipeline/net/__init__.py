"""The web as the crawl sees it: URLs, hosts and seeds."""
