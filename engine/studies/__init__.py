"""Trade-off studies: many runs, fast, resumable, readable; forecasts, scenes and figures."""

from engine.studies.store import ResultStore
from engine.studies.study import Estimate, Progress, estimate, sweep
from engine.studies.trial import Study, Trial, TrialResult, study_of

__all__ = [
    "Estimate",
    "Progress",
    "ResultStore",
    "Study",
    "Trial",
    "TrialResult",
    "estimate",
    "study_of",
    "sweep",
]
