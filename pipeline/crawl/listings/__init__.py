"""What is in a crawl? Lists of its pages, hosts and failures, and single stored pages."""
