"""Attacks on the claims."""
