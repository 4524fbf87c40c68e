"""Studies over epsilon."""
