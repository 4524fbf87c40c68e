"""Rows folded to distinct ones with weights, and the counting of their tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from engine.compiled import kernel
from engine.data.dataset import Dataset
from engine.data.intake import mixed_radix_keys

DENSE_CELLS = 1 << 20  # above this many cells a query's strata are compressed to occupied ones
_BLOCK = 4096
_LANES = 4  # neighbouring rows often hit one cell; separate sums keep them from waiting in line
_LANE_CELLS = 1 << 14


@kernel()
def _count_cells(columns, which, strides, index, weights, cells):  # type: ignore[no-untyped-def]
    """Counts of every cell; the cell's index is built column by column (vectorised).

    ``columns`` (d, k) contiguous rows; ``which`` the columns of the query; ``strides`` and the
    scratch ``index`` (_BLOCK,) of the narrowest type that holds a cell's number; ``weights`` (k,)
    int32, or empty where every row counts once.
    """
    # Cell number of row r: sum over the query's columns i of columns[which[i]][r] * strides[i]. It
    # is built for a block of rows at a time, column by column, so that the inner loops vectorise
    # and the block's numbers stay in the first-level cache.
    k = columns.shape[1]
    lanes = _LANES if cells <= _LANE_CELLS else 1
    sums = np.zeros((lanes, cells), np.int32)
    a, b, c, d = sums[0], sums[1 % lanes], sums[2 % lanes], sums[3 % lanes]
    weighted = weights.size > 0
    for start in range(0, k, _BLOCK):
        size = min(_BLOCK, k - start)
        for r in range(size):
            index[r] = 0
        for i in range(which.size):
            column, stride = columns[which[i]][start : start + size], strides[i]
            for r in range(size):
                index[r] += column[r] * stride
        whole = size - size % _LANES
        if weighted:
            w = weights[start : start + size]
            for r in range(0, whole, _LANES):
                a[index[r]] += w[r]
                b[index[r + 1]] += w[r + 1]
                c[index[r + 2]] += w[r + 2]
                d[index[r + 3]] += w[r + 3]
            for r in range(whole, size):
                a[index[r]] += w[r]
        else:
            for r in range(0, whole, _LANES):
                a[index[r]] += 1
                b[index[r + 1]] += 1
                c[index[r + 2]] += 1
                d[index[r + 3]] += 1
            for r in range(whole, size):
                a[index[r]] += 1
    out = a.astype(np.int64)
    for lane in range(1, lanes):
        out += sums[lane]
    return out


@kernel()
def _cells(columns, which, strides):  # type: ignore[no-untyped-def]
    """Every row's cell; the arguments are those of :func:`_count_cells`."""
    out = np.zeros(columns.shape[1], np.int32)
    for i in range(which.size):
        column, stride = columns[which[i]], strides[i]
        for r in range(out.size):
            out[r] += column[r] * stride
    return out


@lru_cache(maxsize=4096)
def layout(sizes: tuple[int, ...]) -> tuple[int, NDArray[np.unsignedinteger]]:
    """Number of cells, and strides in the narrowest type that holds a cell's number."""
    cells = math.prod(sizes)
    strides = [math.prod(sizes[i + 1 :]) for i in range(len(sizes))]
    return cells, np.array(strides, np.uint16 if cells <= 1 << 16 else np.uint32)


@dataclass(frozen=True, eq=False)
class Rows:
    """Coded rows with weights: a dataset folded, or a subsample of it.

    ``codes`` (k, d), columns contiguous; ``weights`` (k,) int32, or empty where every row counts
    once; ``cardinalities`` the public number of levels of each column; ``n`` the sum of weights.
    """

    codes: NDArray[np.unsignedinteger]
    weights: NDArray[np.int32]
    cardinalities: tuple[int, ...]
    n: int

    def table(self, x: int, y: int, given: Sequence[int] = ()) -> NDArray[np.int64]:
        """Counts of shape (strata, levels of x, levels of y), int64.

        The strata are the configurations of the conditioning set in mixed-radix order, all of
        them, or the occupied ones alone where there would be more than ``DENSE_CELLS`` cells.
        """
        columns = (*given, x, y)
        sizes = [self.cardinalities[c] for c in columns]
        shape = (math.prod(sizes[:-2]), sizes[-2], sizes[-1])
        if math.prod(shape) > DENSE_CELLS:
            return self._sparse_table(columns, shape)
        return self._count(columns, sizes).reshape(shape)

    def _count(self, columns: Sequence[int], sizes: Sequence[int]) -> NDArray[np.int64]:
        cells, strides = layout(tuple(sizes))
        which, index = np.array(columns, np.int64), np.empty(_BLOCK, strides.dtype)
        counts = _count_cells(self.codes.T, which, strides, index, self.weights, cells)
        return np.asarray(counts, dtype=np.int64)

    def _sparse_table(
        self, columns: tuple[int, ...], shape: tuple[int, int, int]
    ) -> NDArray[np.int64]:
        *given, x, y = columns
        levels = [self.cardinalities[c] for c in given]
        keys = mixed_radix_keys(self.codes[:, given], levels)
        distinct, stratum = np.unique(keys, return_inverse=True)
        cell = (stratum * shape[1] + self.codes[:, x]) * shape[2] + self.codes[:, y]
        out = np.zeros(len(distinct) * shape[1] * shape[2], np.int64)
        np.add.at(out, cell, self.weights if self.weights.size else 1)
        return out.reshape(len(distinct), *shape[1:])

    def counts(self, columns: Sequence[int]) -> NDArray[np.int64]:
        """Joint counts of the columns, one axis each, in the given order."""
        sizes = [self.cardinalities[c] for c in columns]
        return self._count(columns, sizes).reshape(sizes)

    def cells(self, columns: Sequence[int]) -> NDArray[np.int32]:
        """Each row's cell in the flat counts of the columns."""
        strides = layout(tuple(self.cardinalities[c] for c in columns))[1]
        return np.asarray(_cells(self.codes.T, np.array(columns, np.int64), strides))


def fold(data: Dataset) -> tuple[Rows, NDArray[np.int64]]:
    """The distinct rows with their weights, and each row of codes' index among them."""
    keys = mixed_radix_keys(data.codes, data.cardinalities)
    _, first, inverse, weights = np.unique(
        keys, return_index=True, return_inverse=True, return_counts=True
    )
    if data.weights is not None:
        weights = np.bincount(inverse, data.weights)
    codes = np.asfortranarray(data.codes[first])
    return Rows(codes, weights.astype(np.int32), data.cardinalities, data.n), inverse
