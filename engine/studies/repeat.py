"""Repetitions of one run with new noise, and what to expect from a single one.

False positives under independence are counted on independent columns of the same shape. This uses
only public facts: levels, number of rows, and setting.
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
    """The range ``low`` to ``high``, which contains ``inside`` of ``of`` repetitions."""

    low: int
    high: int
    inside: int
    of: int


def usual(counts: Sequence[int], share: float = 0.9) -> Usual:
    """Return the shortest range of whole numbers with at least ``share`` of the counts."""
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
    false_positives: tuple[float, float, float]
    f1: tuple[float, float, float]
    of: int


def point(epsilon: float, outcomes: Sequence[TrialResult]) -> Point:
    """Return one point of the curve."""
    some = [o.counts for o in outcomes if o.counts]
    counts = [(c.found, c.false_positives, c.scores.skeleton_f1) for c in some]
    found, wrong, f1 = np.percentile(counts, [5, 50, 95], axis=0).T.tolist()
    return Point(epsilon, tuple(found), tuple(wrong), tuple(f1), len(outcomes))


def around(epsilon: float, reach: float = 100.0, points: int = 9) -> tuple[float, ...]:
    """Return log-spaced epsilons from epsilon / reach to epsilon * reach, with ``epsilon``.

    ``epsilon`` is in the middle and unchanged; the other values are rounded to three digits.
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

    The same arguments give the same numbers. After a stop, the result has the draws made so far, or
    is None if there are none. Links that a run had no budget to test are not counted. Raises
    InputError if the algorithm refuses the data or the parameters.
    """
    counts: list[int] = []
    monitor = Monitor(stop=stop)
    for draw in takewhile(lambda _: not monitor.stopped(), range(draws)):
        made = sweep(shape.independent(draw, margins), key, params, [draw], stop=stop)
        counts += (one.counts.false_positives for one in made if one.counts)
    return Invented(tuple(counts)) if counts else None
