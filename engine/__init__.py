"""Differentially private causal graph discovery: datasets, algorithms, guarantees, studies."""

import warnings
from importlib import import_module
from typing import TYPE_CHECKING, Any

from engine import compiled
from engine.version import __version__ as __version__

# Set before the first kernel is imported, because numba then chooses its cache folder.
PASSING = compiled.set_cache_folder()

if TYPE_CHECKING:  # the names below, for a type checker
    from engine.data.dataset import Dataset as Dataset
    from engine.data.networks import load_dataset as load_dataset
    from engine.data.reading import read_table as read_table
    from engine.data.schema import Column as Column
    from engine.data.schema import Person as Person
    from engine.data.schema import Schema as Schema
    from engine.data.schema import load_schema as load_schema
    from engine.data.sources import Join as Join
    from engine.errors import InputError as InputError
    from engine.estimator import PrivateGraph as PrivateGraph
    from engine.knowledge import Knowledge as Knowledge
    from engine.knowledge import load_knowledge as load_knowledge
    from engine.question import Question as Question
    from engine.registry import ALGORITHMS as ALGORITHMS
    from engine.release.make import Budget as Budget
    from engine.release.make import BudgetedRelease as BudgetedRelease
    from engine.release.make import combine as combine
    from engine.release.make import load_release as load_release
    from engine.result import RunResult as RunResult
    from engine.runner import run as run
    from engine.studies.plan import Plan as Plan
    from engine.studies.plan import plan as plan
    from engine.studies.study import sweep as sweep

_NAMES = {
    "data.dataset": "Dataset",
    "data.networks": "load_dataset",
    "data.reading": "read_table",
    "data.schema": "Column Person Schema load_schema",
    "data.sources": "Join",
    "errors": "InputError",
    "estimator": "PrivateGraph",
    "knowledge": "Knowledge load_knowledge",
    "question": "Question",
    "registry": "ALGORITHMS",
    "release.make": "Budget BudgetedRelease combine load_release",
    "result": "RunResult",
    "runner": "run",
    "studies.plan": "Plan plan",
    "studies.study": "sweep",
}
_HOMES = {name: f"engine.{home}" for home, names in _NAMES.items() for name in names.split()}

# Deprecated names, removed in the next version.
_EARLIER = {"read_csv": "read_table"}

# Parts of the package that scripts reach as attributes, with the modules to import for them.
_PARTS = {
    "release": "engine.release",
    "privacy": "engine.privacy.accounting",
    "statistics": "engine.statistics",
    "studies": "engine.studies",
    "theory": "engine.theory",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that a script loads only used modules."""
    if name in _PARTS:
        import_module(_PARTS[name])
        return import_module(f"{__name__}.{name}")
    if name in _EARLIER:
        warnings.warn(f"{name} is called {_EARLIER[name]}", DeprecationWarning, stacklevel=2)
        return __getattr__(_EARLIER[name])
    if name == "__all__":
        return ["__version__", *_HOMES]
    if name not in _HOMES:
        raise AttributeError(f"module 'engine' has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
