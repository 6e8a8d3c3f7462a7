"""Pages that others have fetched: web archives read as if a round had fetched them."""
