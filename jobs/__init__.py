"""One MRJob a file: what a step reads and emits, and why it is a job; the logic is in crawlctl.pipeline."""
