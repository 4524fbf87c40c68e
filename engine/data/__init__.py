"""Datasets: discrete tables with a public schema, from files, networks or models."""
