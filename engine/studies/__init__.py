"""Trade-off studies: many runs, fast, resumable, readable; the papers reproduced with them."""

from engine.studies.cells import Cell, CellResult, Plan, engine_version, plan
from engine.studies.store import ResultStore
from engine.studies.sweep import Estimate, Progress, estimate, sweep

__all__ = [
    "Cell",
    "CellResult",
    "Estimate",
    "Plan",
    "Progress",
    "ResultStore",
    "engine_version",
    "estimate",
    "plan",
    "sweep",
]
