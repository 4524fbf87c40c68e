"""Sentences about results, shared by pages, command line and files."""
