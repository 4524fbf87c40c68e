"""Spend a budget once and hand out a file: budgets that outlive a session, releases, twins."""
