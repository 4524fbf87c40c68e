"""Differentially private causal graph discovery: datasets, algorithms, guarantees, studies."""

from engine.data import Dataset, read_csv
from engine.errors import InputError
from engine.networks import load_dataset
from engine.registry import ALGORITHMS
from engine.runner import RunResult, run
from engine.studies.sweep import sweep

__version__ = "0.1.0"

__all__ = [
    "ALGORITHMS",
    "Dataset",
    "InputError",
    "RunResult",
    "load_dataset",
    "read_csv",
    "run",
    "sweep",
]
