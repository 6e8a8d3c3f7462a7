"""The inverted index: documents go in, runs of docs, postings and links come out."""
