"""Settings that a study recommends: chosen on some public networks, scored on others.

Each published algorithm was tuned (:mod:`engine.studies.tune`) at three epsilons on half of the
networks; ``python -m benchmarks.recommended`` ran the study and wrote the file that is read here.
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
_FAR = math.log(math.sqrt(10) * 1.001)  # how far an epsilon may be from one that was studied
SCORES, SIDES = ("skeleton_f1", "directed_f1"), ("tuned", "default")


@dataclass(frozen=True, eq=False)
class Score:
    """A mean over runs, its standard error, and how many runs they were."""

    mean: float
    error: float
    runs: int

    @classmethod
    def of(cls, values: Iterable[float]) -> Score:
        """Of some runs' scores."""
        seen = np.array(list(values), dtype=float)
        error = float(seen.std(ddof=1) / math.sqrt(len(seen))) if len(seen) > 1 else math.nan
        return cls(float(seen.mean()) if len(seen) else math.nan, error, len(seen))

    def beats(self, other: Score) -> bool:
        """Whether it is higher by more than the error of the difference."""
        return self.mean - other.mean > math.hypot(self.error, other.error)

    def __str__(self) -> str:
        if not self.runs:
            return "not known"
        return f"{self.mean:.3f}" + (f" ± {self.error:.3f}" if self.runs > 1 else "")


@dataclass(frozen=True, eq=False)
class Reported:
    """Scores of one setting on one network, by name: each run has its own sample and seed.

    ``tuned`` is the recommended setting's, ``default`` the default setting's, on the same samples.
    """

    network: str
    tuned: Mapping[str, Score]
    default: Mapping[str, Score]


@dataclass(frozen=True, eq=False)
class Recommended:
    """What was chosen for an algorithm at an epsilon.

    ``searched`` are the values that the search chose, none where no setting beat the defaults.
    ``fresh`` and ``default`` are both settings' scores on the networks searched on, with fresh
    seeds; ``reported`` on the others. ``runs`` is how many the search took.
    """

    algorithm: str
    epsilon: float
    searched: Mapping[str, Any]
    runs: int
    fresh: Score
    default: Score
    reported: tuple[Reported, ...]

    @cached_property
    def params(self) -> dict[str, Any]:
        """What is laid over the defaults; a search also turns values that have no effect."""
        specs = algorithm(self.algorithm).params.specs()
        full = {s.name: self.searched.get(s.name, s.default) for s in specs}
        effective = relevant(specs, full | {"guarantee": "strict"})
        return {s.name: full[s.name] for s in effective if s.name in self.searched}

    @property
    def elsewhere(self) -> float:
        """The mean skeleton F1 over the networks that it is scored on."""
        return fmean(r.tuned["skeleton_f1"].mean for r in self.reported)

    @property
    def better(self) -> bool:
        """Whether it beats the default there by more than the error of their mean difference."""
        pairs = [(r.tuned["skeleton_f1"], r.default["skeleton_f1"]) for r in self.reported]
        gap = sum(tuned.mean - default.mean for tuned, default in pairs)
        error = math.hypot(*(one.error for pair in pairs for one in pair if one.runs > 1))
        return bool(self.params) and gap > error


@dataclass(frozen=True, eq=False)
class Study:
    """All that was chosen, where it was searched for and scored, and on how many rows."""

    rows: int
    searched: Mapping[str, Sequence[str]]
    reported_on: Sequence[str]
    cells: Mapping[tuple[str, float], Recommended]

    @property
    def epsilons(self) -> list[float]:
        """Those that were studied."""
        return sorted({epsilon for _, epsilon in self.cells})


@cache
def study() -> Study:
    """The study that comes with the project; empty where its file does not, as in a wheel."""
    if not KEPT.exists():
        return Study(0, {}, (), {})
    return read(json.loads(KEPT.read_text(encoding="utf-8")))


def recommended(key: str, epsilon: float, rows: int) -> Recommended | None:
    """The setting chosen at the nearest epsilon studied, where it is worth taking.

    Args:
        key: An algorithm.
        epsilon: A strict total, within a factor of √10 of one that was studied.
        rows: n, within a factor of two of the study's.

    Returns:
        The setting; None for an n or epsilon that is far from all, and where it does not beat the
        default, on samples and seeds that no search used, by more than its error.

    Examples:
        >>> recommended("marginal_pc", 1.0, 20_000) is None  # ours were not tuned here
        True
    """
    near = 0.5 <= rows / max(study().rows, 1) <= 2
    found = _nearest(key, epsilon) if near else None
    return found if found is not None and found.better else None


def _nearest(key: str, epsilon: float) -> Recommended | None:
    own = [one for one in study().cells.values() if one.algorithm == key and one.runs]
    if not own or not 0 < epsilon < math.inf:
        return None
    nearest = min(own, key=lambda one: abs(math.log(one.epsilon / epsilon)))
    return nearest if abs(math.log(nearest.epsilon / epsilon)) <= _FAR else None


def ranked(epsilon: float) -> list[Recommended]:
    """What the study chose at the epsilon next to this one, the best algorithm first.

    At the study's n, by the mean skeleton F1 over the networks that no search saw; algorithms that
    were not tuned are left out.
    """
    found = [_nearest(key, epsilon) for key in dict.fromkeys(k for k, _ in study().cells)]
    tuned = [one for one in found if one is not None and one.runs]
    return sorted(tuned, key=lambda one: -one.elsewhere)


def read(content: Mapping[str, Any]) -> Study:
    """A study from the file's content."""
    found = {}
    for c in content["cells"]:
        reported = tuple(
            Reported(name, *({s: _score(both[which][s]) for s in SCORES} for which in SIDES))
            for name, both in c["reported"].items()
        )
        key, epsilon, fresh, default = c["algorithm"], c["epsilon"], c["fresh"], c["default"]
        found[key, epsilon] = Recommended(
            key, epsilon, c["params"], c["runs"], _score(fresh), _score(default), reported
        )
    return Study(content["rows"], content["searched"], content["told"], found)


def _score(written: Sequence[Any]) -> Score:
    mean, error, runs = written
    return Score(math.nan if mean is None else mean, math.nan if error is None else error, runs)
