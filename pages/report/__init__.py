"""One run, for the one who decides."""
