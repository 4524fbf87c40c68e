"""The opening page: one graph to take hold of."""
