"""Contingency tables: duplicate rows folded, counted once, kept per dataset.

Every statistic of discrete data is a function of a small table of counts. Rows are folded to their
distinct values with a weight each; a query's table is one pass over contiguous columns; what was
counted is kept, within a stated memory bound, for later draws, budgets and algorithms.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
from numba import njit
from numpy.typing import NDArray

if TYPE_CHECKING:
    from engine.data import Dataset

T = TypeVar("T")

DENSE_CELLS = 1 << 20  # above this many cells a query's strata are compressed to occupied ones
STORE_BYTES = 256 << 20  # what one dataset's store may hold
_BLOCK = 4096
_LANES = 4  # neighbouring rows often hit one cell; separate sums keep them from waiting in line
_LANE_CELLS = 1 << 14


@njit(cache=True, nogil=True)
def _count_cells(columns, which, strides, index, weights, cells):  # type: ignore[no-untyped-def]
    """Counts of every cell; the cell's index is built column by column (vectorised).

    ``columns`` (d, k) contiguous rows; ``which`` the columns of the query; ``strides`` and the
    scratch ``index`` (_BLOCK,) of the narrowest type that holds a cell's number; ``weights`` (k,)
    int32, or empty where every row counts once.
    """
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
    return sums.sum(axis=0)


@lru_cache(maxsize=4096)
def _layout(sizes: tuple[int, ...]) -> tuple[int, NDArray[np.unsignedinteger]]:
    """Number of cells, and strides in the narrowest type that holds a cell's number."""
    cells = math.prod(sizes)
    strides = [math.prod(sizes[i + 1 :]) for i in range(len(sizes))]
    return cells, np.array(strides, np.uint16 if cells <= 1 << 16 else np.uint32)


def mixed_radix_keys(
    codes: NDArray[np.unsignedinteger], cardinalities: Sequence[int]
) -> NDArray[np.int64]:
    """One integer a row that is equal for equal rows; compressed where it would overflow."""
    keys = np.zeros(codes.shape[0], np.int64)
    size = 1
    for column, levels in enumerate(cardinalities):
        if size > (1 << 62) // max(levels, 1):
            distinct, keys = np.unique(keys, return_inverse=True)
            keys, size = keys.astype(np.int64), len(distinct)
        keys = keys * levels + codes[:, column]
        size *= levels
    return keys


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
        cells, strides = _layout(tuple(sizes))
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


def fold(data: Dataset) -> tuple[Rows, NDArray[np.int64]]:
    """The distinct rows with their weights, and each original row's index among them."""
    keys = mixed_radix_keys(data.codes, data.cardinalities)
    _, first, inverse, weights = np.unique(
        keys, return_index=True, return_inverse=True, return_counts=True
    )
    codes = np.asfortranarray(data.codes[first])
    return Rows(codes, weights.astype(np.int32), data.cardinalities, data.n), inverse


class Bounded(OrderedDict[Hashable, object]):
    """Least-recently-used mapping that holds at most ``limit`` bytes by ``size``."""

    def __init__(self, limit: int, size: Callable[[object], int]):
        super().__init__()
        self._limit, self._size, self.bytes = limit, size, 0

    def lookup(self, key: Hashable, make: Callable[[], T]) -> T:
        """The kept value, or the one that ``make`` computes, kept from now on."""
        found = self.get(key, _MISSING)
        if found is not _MISSING:
            self.move_to_end(key)
            return found  # type: ignore[return-value]
        value = make()
        self[key] = value
        self.bytes += self._size(value)
        while self.bytes > self._limit and len(self) > 1:
            _, dropped = self.popitem(last=False)
            self.bytes -= self._size(dropped)
        return value


_MISSING = object()
_ENTRY_BYTES = 200  # a Python object, its key and its slot, roughly


def _size(value: object) -> int:
    return _ENTRY_BYTES + int(getattr(value, "nbytes", 0))


class Store:
    """What has been counted and computed for one dataset, reused by every later draw."""

    def __init__(self, data: Dataset, limit: int = STORE_BYTES):
        self.rows, self._row_index = fold(data)
        self.n = data.n
        self._kept = Bounded(limit, _size)

    def keep(self, key: Hashable, make: Callable[[], T]) -> T:
        """A deterministic quantity of the dataset, computed at most once while it is kept."""
        return self._kept.lookup(key, make)

    def table(self, x: int, y: int, given: tuple[int, ...] = ()) -> NDArray[np.int64]:
        """The query's table on all rows, counted at most once while it is kept."""
        return self.keep(("table", x, y, given), lambda: self.rows.table(x, y, given))

    @property
    def bytes(self) -> int:
        """Bytes held by kept tables and scores."""
        return self._kept.bytes

    def subsample(self, m: int, rng: np.random.Generator) -> Rows:
        """m of the n rows, without replacement.

        On folded rows this is one multivariate hypergeometric draw; where folding saves little it
        is quicker to draw the rows themselves. Both have the same distribution.
        """
        if m >= self.n:
            return self.rows
        folded = self.rows
        if len(folded.weights) * 8 <= m:
            weights = folded.weights.astype(np.int64)
            drawn = rng.multivariate_hypergeometric(weights, m, method="marginals")
            held = np.flatnonzero(drawn)
            codes = np.asfortranarray(folded.codes[held])
            return Rows(codes, drawn[held].astype(np.int32), folded.cardinalities, m)
        picked = self._row_index[rng.choice(self.n, m, replace=False, shuffle=False)]
        codes = _gather(folded.codes, picked)
        return Rows(codes, np.empty(0, np.int32), folded.cardinalities, m)


@njit(cache=True, nogil=True)
def _gather(codes, picked):  # type: ignore[no-untyped-def]
    """codes[picked] with columns kept contiguous."""
    out = np.empty((codes.shape[1], picked.size), codes.dtype)
    for c in range(codes.shape[1]):
        column = codes[:, c]
        for r in range(picked.size):
            out[c, r] = column[picked[r]]
    return out.T


_stores: WeakKeyDictionary[Dataset, Store] = WeakKeyDictionary()


def store_of(data: Dataset) -> Store:
    """The dataset's store; made at the first call, dropped with the dataset."""
    store = _stores.get(data)
    if store is None:
        store = _stores[data] = Store(data)
    return store
