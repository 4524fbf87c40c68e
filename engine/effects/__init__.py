"""Estimate the effect of setting one variable on another from a release, at no cost in ε."""
