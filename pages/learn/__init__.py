"""The lesson, step by step."""
