"""Data sets: discrete tables with a public schema, read from files, networks or models."""

from engine.data.dataset import Dataset
from engine.data.networks import load_dataset
from engine.data.reading import read_csv, read_table

__all__ = ["Dataset", "load_dataset", "read_csv", "read_table"]
