"""A user's table, from the file to what is handed out."""
