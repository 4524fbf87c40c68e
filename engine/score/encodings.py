"""Encode columns as numbers in [-1, 1], which bounds the contribution of one row.

Discrete columns get a score per level: "ordinal" spaces the levels equally, which is public;
"ridit" puts each level at the midpoint of its interval of the cumulative frequency; "frequency"
does so after sorting the levels by falling frequency (NOLEAKS). The last two need exact or released
frequencies. Numeric columns are clipped to their declared bounds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.data.dataset import Dataset
from engine.score.acyclicity import Matrix

ENCODINGS = ("ordinal", "ridit", "frequency")
BLOCK = 1 << 15  # rows converted to floats at a time


@dataclass(frozen=True, eq=False)
class Encoding:
    """Map from rows to vectors in the box [-1, 1]^d.

    ``scores`` has one array per column with one score per level; None for numeric data. ``half``
    (d,) is the box's unit in the column's unit: half the width of the bounds. ``middle`` (d,) is
    the middle of the bounds, 0 for discrete data.
    """

    scores: tuple[NDArray[np.float64], ...] | None
    half: NDArray[np.float64]
    middle: NDArray[np.float64]

    @property
    def d(self) -> int:
        """Number of columns."""
        return len(self.half)

    @property
    def fixed_square(self) -> NDArray[np.bool_]:
        """Columns whose square is 1 in every row (two levels at -1 and 1); (d,)."""
        if self.scores is None:
            return np.zeros(self.d, dtype=bool)
        return np.array([bool(np.all(np.abs(s) == 1.0)) for s in self.scores])


def encoding_of(
    data: Dataset, kind: str = "ordinal", frequencies: Sequence[NDArray[np.float64]] | None = None
) -> Encoding:
    """Return a dataset's encoding; "ridit" and "frequency" need the columns' level frequencies."""
    d = data.d
    if data.bounds is not None:
        low, high = np.array(data.bounds).T
        return Encoding(None, (high - low) / 2, (high + low) / 2)
    if kind == "ordinal":
        scores = tuple(equally_spaced(size) for size in data.cardinalities)
    else:
        assert frequencies is not None
        scores = tuple(midpoints(f, by_frequency=kind == "frequency") for f in frequencies)
    return Encoding(scores, np.ones(d), np.zeros(d))


def equally_spaced(levels: int) -> NDArray[np.float64]:
    """Return equally spaced scores from -1 to 1, or 0 for a single level."""
    return np.linspace(-1.0, 1.0, levels) if levels > 1 else np.zeros(1)


def midpoints(frequencies: NDArray[np.float64], *, by_frequency: bool) -> NDArray[np.float64]:
    """Return 2 m - 1 for the midpoint m of each level's interval of the cumulative frequency.

    Frequencies may be noisy: negative ones count as 0, and the others are scaled to sum 1.
    """
    share = np.maximum(frequencies, 0.0)
    share = share / share.sum() if share.sum() > 0 else np.full(len(share), 1 / len(share))
    order = np.argsort(-share, kind="stable") if by_frequency else np.arange(len(share))
    ends = np.cumsum(share[order])
    scores = np.empty(len(share))
    scores[order] = 2 * (ends - share[order] / 2) - 1
    return np.clip(scores, -1.0, 1.0)


def level_counts(data: Dataset) -> list[NDArray[np.float64]]:
    """Count every column's levels exactly."""
    columns = zip(data.codes.T, data.cardinalities, strict=True)
    return [np.bincount(column, data.weights, size).astype(float) for column, size in columns]


def blocks(data: Dataset, encoding: Encoding) -> Iterator[tuple[Matrix, NDArray[np.int64] | None]]:
    """Yield the rows as (block, d) floats in the box, one block at a time, with their weights."""
    for start in range(0, len(data.codes), BLOCK):
        part = slice(start, start + BLOCK)
        if encoding.scores is None:
            yield _inside(data, part, encoding), None
        else:
            weights = None if data.weights is None else data.weights[part]
            yield lookup(data.codes[part], encoding), weights


def lookup(codes: NDArray[np.unsignedinteger], encoding: Encoding) -> Matrix:
    """Map codes (k, d) to scores (k, d)."""
    assert encoding.scores is not None
    out = np.empty(codes.shape, order="F")
    for j, scores in enumerate(encoding.scores):
        np.take(scores, codes[:, j], out=out[:, j])
    return out


def _inside(data: Dataset, part: slice, encoding: Encoding) -> Matrix:
    """Scale some rows of numeric data into the box."""
    assert data.values is not None
    return np.clip((data.values[part] - encoding.middle) / encoding.half, -1.0, 1.0)


def first_rows(data: Dataset, encoding: Encoding, rows: int) -> Matrix:
    """Return the first rows in the order of reading, scaled into the box."""
    if encoding.scores is None:
        return _inside(data, slice(rows), encoding)
    return lookup(data.row_codes(rows), encoding)
