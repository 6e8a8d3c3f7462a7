"""What a fetched body says: its kind, text, links, language, words and likeness to other documents."""
