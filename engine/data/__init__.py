"""Data sets: discrete tables with a public schema, read from files, networks or models."""
