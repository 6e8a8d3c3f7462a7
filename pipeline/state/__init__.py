"""Which files are the crawl now? Snapshots, the journal of the open round, the lease."""
