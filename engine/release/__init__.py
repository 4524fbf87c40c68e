"""Spend a budget once, hand out a file: lasting budgets, releases, synthetic rows."""
