"""Which jobs are there? One MRJob per file; the logic is in crawlctl.pipeline."""
