"""PageRank: links as a matrix in blocks, its solution in one task or in many, and what is published of it."""
