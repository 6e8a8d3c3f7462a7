"""The logic of the crawl as plain functions: folders in the order data flows through them."""
