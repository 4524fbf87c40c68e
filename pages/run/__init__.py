"""Run one algorithm on one dataset: what it found, what it cost, and why."""
