"""False positives under independence: links found on independent columns of the same shape.

From public facts alone: levels, the number of rows, the setting. No row of real data is read, so
nothing is spent. The margins of real columns are not public: the simulated ones take turns at
being even and being rare (:data:`MARGINS`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import takewhile
from typing import Any

import networkx as nx
import numpy as np

from engine.data.dataset import Dataset
from engine.data.imagined import independent, independent_numbers
from engine.registry import algorithm
from engine.studies.detectability import Invented, Shape
from engine.studies.repeat import repeated

MARGINS = (0.5, 0.3, 0.1, 0.02)  # share of a column's rows that is not at its first level
DRAWS = 20
_STREAM = int.from_bytes(b"null", "big")


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
