"""False positives under independence: links found on independent columns of the same shape.

From public facts alone: levels, the number of rows, the setting. No row of real data is read, so
nothing is spent. The margins of real columns are not public: the simulated ones take turns at
being even and being rare (:data:`MARGINS`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any

import networkx as nx
import numpy as np

from engine.data.dataset import Dataset
from engine.data.imagined import independent, independent_numbers
from engine.registry import algorithm
from engine.runner import run
from engine.studies.detectability import Shape
from engine.studies.repeat import outcome_of

MARGINS = (0.5, 0.3, 0.1, 0.02)  # share of a column's rows that is not at its first level
DRAWS = 20
_STREAM = int.from_bytes(b"null", "big")


@dataclass(frozen=True)
class Invented:
    """False positives in each of some runs on independent columns."""

    counts: tuple[int, ...]

    @property
    def mean(self) -> float:
        """Expected number of links a run."""
        return fmean(self.counts)

    @property
    def error(self) -> float:
        """Standard error of the mean; infinite for a single run."""
        draws = len(self.counts)
        return stdev(self.counts) / math.sqrt(draws) if draws > 1 else math.inf

    @property
    def about(self) -> str:
        """The mean as every table and sentence writes it: whole from 2 on, 0 below .05."""
        mean = self.mean
        return "0" if mean < 0.05 else f"{mean:.1f}" if mean < 2 else f"{mean:.0f}"

    @property
    def sentence(self) -> str:
        """The sentence shown where a setting is chosen."""
        count = "no false positive" if self.about == "0" else f"about {self.about} false positives"
        return f"On independent data of this size, this setting gives {count}."


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
    for draw in range(draws):
        if cancelled():
            break
        data = empty(shape, draw, margins)
        result = run(key, data, seed=draw, trace=False, cancelled=cancelled, **params)
        if result.status == "cancelled":
            break
        counts.append(outcome_of(result).counts.invented)
    return Invented(tuple(counts)) if counts else None
