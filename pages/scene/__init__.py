"""The opening page: one interactive graph."""
