"""A user's table, from the file to the release that is shared."""
