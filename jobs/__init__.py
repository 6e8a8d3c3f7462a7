"""Which steps of a round and of a ranking run as MapReduce? One MRJob per file; the logic is in pipeline/."""
