"""The command line: ``python -m engine`` and what each of its words does."""
