"""Differentially private causal graph discovery: datasets, algorithms, guarantees, studies."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from engine import compiled
from engine.version import __version__

# Before the first kernel is read: numba looks for a place to keep it when a module is imported.
PASSING = compiled.settle()

if TYPE_CHECKING:
    from engine.data.dataset import Dataset
    from engine.data.networks import load_dataset
    from engine.data.reading import read_csv, read_table
    from engine.data.schema import Column, Person, Schema, load_schema
    from engine.errors import InputError
    from engine.estimator import PrivateGraph
    from engine.knowledge import Knowledge, load_knowledge
    from engine.registry import ALGORITHMS
    from engine.release.make import Budget, BudgetedRelease, combine, load_release
    from engine.result import RunResult
    from engine.runner import run
    from engine.studies.plan import Plan, plan
    from engine.studies.study import sweep

__all__ = [
    "ALGORITHMS",
    "Budget",
    "BudgetedRelease",
    "Column",
    "Dataset",
    "InputError",
    "Knowledge",
    "Person",
    "Plan",
    "PrivateGraph",
    "RunResult",
    "Schema",
    "__version__",
    "combine",
    "load_dataset",
    "load_knowledge",
    "load_release",
    "load_schema",
    "plan",
    "read_csv",
    "read_table",
    "run",
    "sweep",
]

_NAMES = {
    "data.dataset": "Dataset",
    "data.networks": "load_dataset",
    "data.reading": "read_csv read_table",
    "data.schema": "Column Person Schema load_schema",
    "errors": "InputError",
    "estimator": "PrivateGraph",
    "knowledge": "Knowledge load_knowledge",
    "registry": "ALGORITHMS",
    "release.make": "Budget BudgetedRelease combine load_release",
    "result": "RunResult",
    "runner": "run",
    "studies.plan": "Plan plan",
    "studies.study": "sweep",
}
_HOMES = {name: f"engine.{home}" for home, names in _NAMES.items() for name in names.split()}

# Parts of the package that scripts reach as attributes, and what has to be imported for them.
_PARTS = {
    "release": "engine.release",
    "privacy": "engine.privacy.accounting",
    "statistics": "engine.statistics",
    "studies": "engine.studies",
    "theory": "engine.theory",
}


def __getattr__(name: str) -> Any:
    """Import what is public when it is first asked for: a script that only runs reads no tables."""
    if name in _PARTS:
        import_module(_PARTS[name])
        return import_module(f"{__name__}.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'engine' has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
