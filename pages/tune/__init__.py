"""Good settings for a budget, the least budget for a score, and maps of two parameters."""
