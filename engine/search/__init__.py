"""The PC loop, the scores for private rules, and the allocation of their budgets."""
