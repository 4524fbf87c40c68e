"""A release of one's own data."""
