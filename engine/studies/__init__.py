"""Trade-off studies: many runs, fast, resumable, readable; the papers reproduced with them."""

from engine.studies.cells import Cell, CellResult, Study, engine_version, study_of
from engine.studies.store import ResultStore
from engine.studies.sweep import Estimate, Progress, estimate, sweep

__all__ = [
    "Cell",
    "CellResult",
    "Estimate",
    "Progress",
    "ResultStore",
    "Study",
    "engine_version",
    "estimate",
    "study_of",
    "sweep",
]
