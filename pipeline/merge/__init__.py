"""The merge of an index: runs and older segments in, query-ready segments out."""
