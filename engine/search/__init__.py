"""The PC loop, the evidence private rules see, and how their budgets are laid out."""
