"""What follows from a release: the effect of setting one variable on another, for free."""
