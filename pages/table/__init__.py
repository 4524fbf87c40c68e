"""A table of one's own, from the file to what is handed out."""
