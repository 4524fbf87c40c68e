"""The PC loop, the evidence for private rules, and the allocation of their budgets."""
