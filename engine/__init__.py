"""Differentially private causal graph discovery: datasets, algorithms, guarantees, studies."""

from engine.data.dataset import Dataset
from engine.data.networks import load_dataset
from engine.data.reading import read_csv, read_table
from engine.errors import InputError
from engine.registry import ALGORITHMS
from engine.runner import RunResult, run
from engine.studies.sweep import sweep
from engine.version import __version__

__all__ = [
    "ALGORITHMS",
    "Dataset",
    "InputError",
    "RunResult",
    "__version__",
    "load_dataset",
    "read_csv",
    "read_table",
    "run",
    "sweep",
]
