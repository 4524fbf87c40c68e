"""Run one algorithm on one dataset: its graph, its costs and its reasons."""
