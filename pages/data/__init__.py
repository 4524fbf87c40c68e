"""The dataset, and a schema for one's own."""
