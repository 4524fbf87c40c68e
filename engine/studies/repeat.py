"""The same run again and again with fresh noise: what a reader may expect of one of them.

For data with a public truth only: every repetition on a person's own data would spend budget. False
positives under independence are counted on independent columns of the same shape, from public facts
alone: levels, the number of rows, the setting. The margins of real columns are not public: the
simulated ones take turns at being even and being rare (:data:`MARGINS`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, NamedTuple

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from engine.data.dataset import Dataset
from engine.data.imagined import independent, independent_numbers
from engine.errors import InputError
from engine.graphs.cpdag import Adjacency
from engine.graphs.metrics import Counts
from engine.registry import algorithm
from engine.runner import run
from engine.studies.detectability import Invented, Shape

MARGINS = (0.5, 0.3, 0.1, 0.02)  # share of a column's rows that is not at its first level
DRAWS = 20
_STREAM = int.from_bytes(b"null", "big")


@dataclass(frozen=True, eq=False)
class Repetition:
    """What one repetition came to, and the (d, d) CPDAG of what it tested to the end."""

    counts: Counts
    matrix: Adjacency


def repeated(
    key: str,
    data: Dataset,
    params: Mapping[str, Any],
    seeds: Iterable[int],
    cancelled: Callable[[], bool] = lambda: False,
) -> Iterator[Repetition]:
    """The run with each seed in turn, as the iterator is consumed; ends early when cancelled."""
    if not data.public or data.truth is None:
        raise InputError(
            "Repetitions count against a true graph, and on a person's own data would spend "
            "budget: none are made."
        )
    for seed in seeds:
        result = run(key, data, seed=seed, trace=False, stop=cancelled, **params)
        if result.status == "cancelled" or result.counts is None:
            return
        yield Repetition(result.counts, result.tested)


def stability(outcomes: Sequence[Repetition]) -> NDArray[np.float64]:
    """(d, d), symmetric: the share of the repetitions that have a link, whatever its mark.

    Examples:
        >>> from engine import load_dataset
        >>> data = load_dataset("cancer", n=2_000)
        >>> shares = stability(list(repeated("priv_pc", data, {"epsilon": 1.0}, range(4))))
        >>> shares.shape, float(shares.max()) <= 1
        ((5, 5), True)
    """
    return np.asarray(np.mean([o.matrix | o.matrix.T for o in outcomes], axis=0))


class Usual(NamedTuple):
    """Whole numbers from ``low`` to ``high``, which ``inside`` of ``of`` repetitions reached."""

    low: int
    high: int
    inside: int
    of: int


def usual(counts: Sequence[int], share: float = 0.9) -> Usual:
    """The shortest range of whole numbers that holds at least ``share`` of the counts."""
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


def point(epsilon: float, outcomes: Sequence[Repetition]) -> Point:
    """One point of the curve."""
    counts = [(o.counts.found, o.counts.invented, o.counts.scores.skeleton_f1) for o in outcomes]
    found, invented, f1 = np.percentile(counts, [5, 50, 95], axis=0).T.tolist()
    return Point(epsilon, tuple(found), tuple(invented), tuple(f1), len(outcomes))


def around(epsilon: float, reach: float = 100.0, points: int = 9) -> tuple[float, ...]:
    """Epsilons on a log scale from epsilon / reach to epsilon * reach, ``epsilon`` in the middle.

    Values are rounded to three digits; the middle one is kept as it is.
    """
    steps = np.linspace(-1, 1, points)
    return tuple(epsilon if s == 0 else float(f"{epsilon * reach**s:.3g}") for s in steps)


# On independent columns ------------------------------------------------------------------


def empty(shape: Shape, draw: int, margins: Sequence[float] = MARGINS) -> Dataset:
    """The ``draw``-th simulated table; its true graph has no link.

    Columns that have bounds are normal about their middle, which lies four deviations from
    either; others have levels, and ``margins`` in turn.
    """
    rng = np.random.default_rng(np.random.SeedSequence([_STREAM, draw]))
    names = tuple(f"X{i}" for i in range(len(shape.cardinalities)))
    truth = nx.empty_graph(names, create_using=nx.DiGraph)
    if shape.bounds is not None:
        values = independent_numbers(shape.bounds, shape.rows, rng)
        return Dataset.from_values(values, shape.bounds, names, truth=truth, public=True)
    codes = independent(shape.cardinalities, shape.rows, margins, rng)
    levels = [tuple(map(str, range(r))) for r in shape.cardinalities]
    return Dataset.from_codes(codes, names, levels, name="nothing", truth=truth, public=True)


def invented(
    key: str,
    shape: Shape,
    params: Mapping[str, Any],
    *,
    draws: int = DRAWS,
    margins: Sequence[float] = MARGINS,
    cancelled: Callable[[], bool] = lambda: False,
) -> Invented | None:
    """How many false positives a setting gives on independent columns of this shape.

    The same numbers for the same arguments. Of the draws that were made when ``cancelled`` says
    so; None where there are none. Links that a run had no budget left to test are not counted.
    Raises InputError where the algorithm does not take such data, or such parameters.
    """
    algorithm(key).params.build(dict(params))  # before the first table is drawn
    counts: list[int] = []
    for draw in takewhile(lambda _: not cancelled(), range(draws)):
        made = repeated(key, empty(shape, draw, margins), params, [draw], cancelled)
        counts += (one.counts.invented for one in made)
    return Invented(tuple(counts)) if counts else None
