"""The same run again and again with fresh noise: the expectation for one of them.

False positives under independence are counted on independent columns of the same shape, from public
facts alone: levels, the number of rows, the setting.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, NamedTuple

import numpy as np

from engine.monitor import Monitor, Stop, renamed
from engine.studies.detectability import MARGINS, Invented, Shape
from engine.studies.study import sweep
from engine.studies.trial import TrialResult

DRAWS = 20


class Usual(NamedTuple):
    """Whole numbers from ``low`` to ``high``, which ``inside`` of ``of`` repetitions reached."""

    low: int
    high: int
    inside: int
    of: int


def usual(counts: Sequence[int], share: float = 0.9) -> Usual:
    """Return the shortest range of whole numbers that holds at least ``share`` of the counts."""
    ordered = sorted(counts)
    need = math.ceil(share * len(ordered) - 1e-9)
    starts = range(len(ordered) - need + 1)
    first = min(starts, key=lambda i: ordered[i + need - 1] - ordered[i])
    low, high = ordered[first], ordered[first + need - 1]
    return Usual(low, high, sum(low <= c <= high for c in ordered), len(ordered))


@dataclass(frozen=True)
class Point:
    """Repetitions at one epsilon: median, 5th and 95th percentile of counts and skeleton F1."""

    epsilon: float
    found: tuple[float, float, float]  # low, median, high
    invented: tuple[float, float, float]
    f1: tuple[float, float, float]
    of: int


def point(epsilon: float, outcomes: Sequence[TrialResult]) -> Point:
    """One point of the curve."""
    some = [o.counts for o in outcomes if o.counts]
    counts = [(c.found, c.false_positives, c.scores.skeleton_f1) for c in some]
    found, invented, f1 = np.percentile(counts, [5, 50, 95], axis=0).T.tolist()
    return Point(epsilon, tuple(found), tuple(invented), tuple(f1), len(outcomes))


def around(epsilon: float, reach: float = 100.0, points: int = 9) -> tuple[float, ...]:
    """Epsilons on a log scale from epsilon / reach to epsilon * reach, ``epsilon`` in the middle.

    Values are rounded to three digits; the middle one is kept as it is.
    """
    steps = np.linspace(-1, 1, points)
    return tuple(epsilon if s == 0 else float(f"{epsilon * reach**s:.3g}") for s in steps)


# On independent columns ------------------------------------------------------------------


@renamed(cancelled="stop")
def invented(
    key: str,
    shape: Shape,
    params: Mapping[str, Any],
    *,
    draws: int = DRAWS,
    margins: Sequence[float] = MARGINS,
    stop: Stop | None = None,
) -> Invented | None:
    """Count a setting's false positives on independent columns of this shape.

    The same numbers for the same arguments. Count the draws that were made when ``stop`` says so;
    None where there are none. Links that a run had no budget left to test are not counted.
    Raises InputError where the algorithm does not take such data, or such parameters.
    """
    counts: list[int] = []
    monitor = Monitor(stop=stop)
    for draw in takewhile(lambda _: not monitor.stopped(), range(draws)):
        made = sweep(shape.independent(draw, margins), key, params, [draw], stop=stop)
        counts += (one.counts.false_positives for one in made if one.counts)
    return Invented(tuple(counts)) if counts else None
