"""Trade-off studies: many runs, fast, resumable, readable; forecasts, scenes and figures."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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

_PARTS = {"ResultStore": "store"} | dict.fromkeys(
    ("Study", "Trial", "TrialResult", "study_of"), "trial"
)


def __getattr__(name: str) -> Any:
    """Import what is public when it is first asked for: a page that runs once makes no study."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_PARTS.get(name, 'study')}"), name)
