"""Two columns of a dataset as bounded numbers, and the random split of its rows into halves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.data.dataset import Dataset
from engine.errors import InputError
from engine.pairs.regression import Vector
from engine.randomness import Randomness

MIN_ROWS = 10


@dataclass(frozen=True, eq=False, repr=False)
class Pair:
    """Two columns (n,) mapped from their public bounds to [-1, 1]; values outside are clipped."""

    x: Vector
    y: Vector

    def rows(self, index: np.ndarray) -> Pair:
        """Return the pair restricted to some rows."""
        return Pair(self.x[index], self.y[index])


def pair_of(data: Dataset) -> Pair:
    """Return the pair of a dataset with two columns; a discrete column has its level positions.

    Raises InputError for another number of columns, fewer than MIN_ROWS rows, or a column with one
    level. All of these facts are public.
    """
    if data.d != 2:
        raise InputError(
            f"Cause and effect are decided between two columns. These data have {data.d}, so "
            f"choose two of them."
        )
    if data.n < MIN_ROWS:
        raise InputError(f"Give at least {MIN_ROWS} rows to tell cause from effect, not {data.n}.")
    columns = []
    for j, name in enumerate(data.names):
        if data.values is not None and data.bounds is not None:
            raw, (low, high) = data.values[:, j], data.bounds[j]
        else:
            raw, low, high = data.row_codes()[:, j].astype(float), 0.0, data.cardinalities[j] - 1.0
        if not high > low:
            raise InputError(f"Column {name!r} is constant, so nothing can depend on it.")
        middle, half = (low + high) / 2, (high - low) / 2
        columns.append(np.clip((raw - middle) / half, -1.0, 1.0))
    return Pair(*columns)


@dataclass(frozen=True, eq=False)
class Halves:
    """Rows of the training half and of the test half, chosen independently of their values."""

    training: np.ndarray
    test: np.ndarray

    @classmethod
    def split(cls, n: int, randomness: Randomness) -> Halves:
        """Split at random; training gets the smaller half of an odd number."""
        order = randomness.permutation(n)
        return cls(order[: n // 2], order[n // 2 :])
