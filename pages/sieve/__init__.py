"""Priv-PC's sieve and examine."""
