"""Cause or effect, for two columns."""
