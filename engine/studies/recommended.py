"""Settings recommended by a study, chosen on some public networks and scored on others.

Each published algorithm was tuned (:mod:`engine.studies.tune`) at three epsilons on half of the
networks. ``python -m benchmarks.recommended`` ran the study and wrote the file that this module
reads.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from statistics import fmean
from typing import Any

import numpy as np

from engine.data.networks import SAMPLE_DATA
from engine.params import relevant
from engine.registry import algorithm

KEPT = SAMPLE_DATA / "recommended.json"
_FAR = math.log(math.sqrt(10) * 1.001)  # largest log distance of an epsilon from one in the study


@dataclass(frozen=True, eq=False)
class Score:
    """A mean over runs, its standard error, and the number of runs."""

    mean: float
    error: float
    runs: int

    @classmethod
    def of(cls, values: Iterable[float]) -> Score:
        """Summarise some runs' scores."""
        seen = np.array(list(values), dtype=float)
        error = float(seen.std(ddof=1) / math.sqrt(len(seen))) if len(seen) > 1 else math.nan
        return cls(float(seen.mean()) if len(seen) else math.nan, error, len(seen))

    def beats(self, other: Score) -> bool:
        """Return True if the mean is higher by more than the error of the difference."""
        return self.mean - other.mean > math.hypot(self.error, other.error)

    def __str__(self) -> str:
        if not self.runs:
            return "not known"
        return f"{self.mean:.3f}" + (f" ± {self.error:.3f}" if self.runs > 1 else "")


@dataclass(frozen=True, eq=False)
class Recommended:
    """A study's choice for an algorithm at an epsilon, and its score.

    ``rows`` is n of the study. ``searched`` are the values chosen by the search on the networks
    ``on``; empty if no setting beat the defaults. ``elsewhere`` maps each network outside the
    search to the skeleton F1 of the setting and of the default on the same samples and seeds.
    """

    algorithm: str
    epsilon: float
    rows: int
    searched: Mapping[str, Any]
    on: Sequence[str]
    elsewhere: Mapping[str, tuple[Score, Score]]

    @cached_property
    def params(self) -> dict[str, Any]:
        """Values that differ from the defaults; a search also varies values without effect."""
        specs = algorithm(self.algorithm).params.specs()
        full = {s.name: self.searched.get(s.name, s.default) for s in specs}
        effective = relevant(specs, full | {"guarantee": "strict"})
        return {s.name: full[s.name] for s in effective if s.name in self.searched}

    @property
    def better(self) -> bool:
        """True if it beats the default elsewhere by more than the error of the difference."""
        pairs = self.elsewhere.values()
        gap = sum(tuned.mean - default.mean for tuned, default in pairs)
        return bool(self.params) and gap > math.hypot(*(s.error for pair in pairs for s in pair))


@cache
def study() -> tuple[Recommended, ...]:
    """Load the settings bundled with the project; empty if the file is missing, as in a wheel."""
    if not KEPT.exists():
        return ()
    content = json.loads(KEPT.read_text(encoding="utf-8"))
    return tuple(
        Recommended(
            c["algorithm"], c["epsilon"], content["rows"], c["params"],
            content["searched"][c["algorithm"]],
            {name: (Score(*found["tuned"]["skeleton_f1"]), Score(*found["default"]["skeleton_f1"]))
             for name, found in c["reported"].items()},
        )
        for c in content["cells"] if c["runs"]
    )  # fmt: skip


def recommended(key: str, epsilon: float, rows: int) -> Recommended | None:
    """Return the setting chosen at the nearest epsilon studied, if it beats the default.

    Args:
        key: An algorithm.
        epsilon: Guaranteed ε, within a factor of √10 of one in the study.
        rows: n, within a factor of two of that in the study.

    Returns:
        The setting; None if n or epsilon is too far from the study, or if the setting does not beat
        the default by more than its error on new samples and seeds.

    Examples:
        >>> recommended("marginal_pc", 1.0, 20_000) is None  # ours were not tuned here
        True
    """
    found = [one for one in _nearest(epsilon) if one.algorithm == key]
    return next((one for one in found if 0.5 <= rows / one.rows <= 2 and one.better), None)


def ranked(epsilon: float) -> list[Recommended]:
    """Rank the study's choices at the nearest epsilon, the best algorithm first.

    The rank is by mean skeleton F1 at the study's n over the networks outside the search.
    Algorithms without tuning are omitted.
    """
    mean = lambda one: fmean(tuned.mean for tuned, _ in one.elsewhere.values())  # noqa: E731
    return sorted(_nearest(epsilon), key=mean, reverse=True)


def _nearest(epsilon: float) -> list[Recommended]:
    if not 0 < epsilon < math.inf:
        return []
    far = lambda e: abs(math.log(e / epsilon))  # noqa: E731
    at = min((one.epsilon for one in study()), key=far, default=math.inf)
    return [one for one in study() if one.epsilon == at and far(at) <= _FAR]
