"""Graphs, curves, bars: what is drawn, on every page."""
