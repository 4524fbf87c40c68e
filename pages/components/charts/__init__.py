"""Figures, graphs and tables; no session, no engine runs."""
