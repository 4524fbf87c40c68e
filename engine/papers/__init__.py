"""Reproductions of the papers' tables and figures, compared with our numbers."""
