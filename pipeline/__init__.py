"""What does crawlctl do? The logic as plain functions, in folders along the flow of the data."""
