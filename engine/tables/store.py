"""A dataset's rows folded, their tables counted, and what was counted and computed kept.

Rows are folded to distinct ones with weights. What is kept serves later draws, budgets and
algorithms, within one bound of memory.
"""

from __future__ import annotations

import math
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from threading import RLock
from typing import Any, TypeVar
from weakref import WeakKeyDictionary, finalize

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
    int32.
    """
    # Cell number of row r: sum over the query's columns i of columns[which[i]][r] * strides[i]. It
    # is built for a block of rows at a time, column by column, so that the inner loops vectorise
    # and the block's numbers stay in the first-level cache.
    k = columns.shape[1]
    lanes = _LANES if cells <= _LANE_CELLS else 1
    sums = np.zeros((lanes, cells), np.int32)
    a, b, c, d = sums[0], sums[1 % lanes], sums[2 % lanes], sums[3 % lanes]
    for start in range(0, k, _BLOCK):
        size = min(_BLOCK, k - start)
        for r in range(size):
            index[r] = 0
        for i in range(which.size):
            column, stride = columns[which[i]][start : start + size], strides[i]
            for r in range(size):
                index[r] += column[r] * stride
        whole = size - size % _LANES
        w = weights[start : start + size]
        for r in range(0, whole, _LANES):
            a[index[r]] += w[r]
            b[index[r + 1]] += w[r + 1]
            c[index[r + 2]] += w[r + 2]
            d[index[r + 3]] += w[r + 3]
        for r in range(whole, size):
            a[index[r]] += w[r]
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

    ``codes`` (k, d), columns contiguous; ``weights`` (k,) int32; ``cardinalities`` the public
    number of levels of each column; ``n`` the sum of weights.
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
        np.add.at(out, cell, self.weights)
        return out.reshape(len(distinct), *shape[1:])

    def counts(self, columns: Sequence[int]) -> NDArray[np.int64]:
        """Joint counts of the columns, one axis each, in the given order."""
        sizes = [self.cardinalities[c] for c in columns]
        return self._count(columns, sizes).reshape(sizes)

    def pairs(self) -> NDArray[np.int32]:
        """Counts over every two levels, the columns' levels one after the other: one product."""
        first = np.cumsum((0, *self.cardinalities))
        total = np.zeros((first[-1], first[-1]), np.int32)
        kind = np.float32 if self.n < 1 << 24 else np.float64  # sums of whole numbers are exact
        for start in range(0, len(self.codes), _BLOCK):
            at = self.codes[start : start + _BLOCK] + first[:-1]
            marks = np.zeros((len(at), first[-1]), kind)
            np.put_along_axis(marks, at, 1, axis=1)
            times = self.weights[start : start + _BLOCK, None].astype(kind)
            total += (marks.T @ (marks * times)).astype(np.int32)
        return total

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


# What was counted, kept ----------------------------------------------------------------

_JOINT_CELLS = 1 << 9  # 4 kB; larger counts would drive scores out
# From so many columns on all pairs are counted at once; so many levels they may have, 64 MB.
_WIDE, _MOST_LEVELS = 64, 4_000

T = TypeVar("T")
V = TypeVar("V")
Key = tuple[Hashable, ...]
STORE_BYTES = 512 << 20  # what the stores of all datasets of a process may hold together


class Known(dict[Hashable, V]):
    """Many small values that are looked up together, such as the scores of a pair by set.

    It grows while it is kept, by :meth:`Store.note` alone.
    """

    @property
    def nbytes(self) -> int:
        """Bytes held, roughly."""
        return _ENTRY_BYTES * len(self)


class Bounded(OrderedDict[Key, object]):
    """Least-recently-used mapping that holds at most ``limit`` bytes by ``size``.

    Keys are tuples; those that begin alike can be forgotten together.
    """

    def __init__(self, limit: int, size: Callable[[object], int]):
        super().__init__()
        self._limit, self._size, self.bytes = limit, size, 0
        # To look through all keys for those of one dataset took longer than to count it again.
        self._alike: defaultdict[Hashable, set[Key]] = defaultdict(set)
        self._lock = RLock()  # runs in several threads may share a dataset

    def lookup(self, key: Key, make: Callable[[], T]) -> T:
        """The kept value, or the one that ``make`` computes, kept from now on."""
        found = self.get(key, _MISSING)
        if found is not _MISSING:
            if 2 * self.bytes > self._limit:  # before, nothing will go soon, and order costs time
                with self._lock:
                    if key in self:
                        self.move_to_end(key)
            return found  # type: ignore[return-value]
        value = make()  # outside the lock: two threads may both compute it, neither waits
        with self._lock:
            if key not in self:
                self.bytes += self._size(value)
                self._alike[key[0]].add(key)
            self[key] = value
            self._trim()
        return value

    def _trim(self) -> None:
        while self.bytes > self._limit and len(self) > 1:
            oldest, dropped = self.popitem(last=False)
            self.bytes -= self._size(dropped)
            alike = self._alike[oldest[0]]
            alike.discard(oldest)
            if not alike:  # a dataset that lives on would keep an empty set here
                del self._alike[oldest[0]]

    def note(self, key: Key, known: Known[V], name: Hashable, value: V) -> None:
        """Add what was computed to one of the values that grow, and count it while it is kept."""
        with self._lock:
            if name not in known:
                known[name] = value
                if self.get(key) is known:
                    self.bytes += _ENTRY_BYTES
                    self._trim()

    def forget(self, first: Hashable) -> None:
        """Drop every entry with a key that begins with ``first``."""
        with self._lock:
            for key in self._alike.pop(first, ()):
                self.bytes -= self._size(self.pop(key))


_MISSING = object()
_ENTRY_BYTES = 200  # a Python object, its key and its slot, roughly


def _size(value: object) -> int:
    return _ENTRY_BYTES + int(getattr(value, "nbytes", 0))


_shared = Bounded(STORE_BYTES, _size)


class Store:
    """What has been counted and computed for one dataset, reused by every later draw.

    All stores share one bound of memory, where what was not used for longest goes first, whosever
    it is; a store with its own ``limit`` keeps apart.
    """

    def __init__(self, data: Dataset, limit: int | None = None):
        self.rows, self._row_index = fold(data)
        self.n, self._weights = data.n, data.weights
        self._first = [0, *accumulate(self.rows.cardinalities)]  # of each column's levels
        self._spread: NDArray[np.int64] | None = None
        self._kept = _shared if limit is None else Bounded(limit, _size)
        self._mine = object()  # what the keys of this store begin with
        # At the end of the process all goes at once: to clear it entry by entry took seconds.
        finalize(self, self._kept.forget, self._mine).atexit = False

    def keep(self, key: Hashable, make: Callable[[], T]) -> T:
        """A deterministic quantity of the dataset, computed at most once while it is kept."""
        return self._kept.lookup((self._mine, key), make)

    def known(self, key: Hashable) -> Known[Any]:
        """Small values under one key, each under its own name; see :meth:`note`."""
        return self.keep(key, Known)

    def note(self, key: Hashable, known: Known[V], name: Hashable, value: V) -> None:
        """Add a value to what :meth:`known` gave."""
        self._kept.note((self._mine, key), known, name, value)

    def table(self, x: int, y: int, given: tuple[int, ...] = ()) -> NDArray[np.int64]:
        """The query's table on all rows, counted at most once while it is kept."""
        return self.keep(("table", x, y, given), lambda: self.count(x, y, given))

    def count(self, x: int, y: int, given: tuple[int, ...] = ()) -> NDArray[np.int64]:
        """The query's table on all rows."""
        columns, levels = (*given, x, y), self.rows.cardinalities
        if math.prod([levels[c] for c in columns]) > _JOINT_CELLS:
            return self.rows.table(x, y, given)
        return self.joint(columns).reshape(-1, levels[x], levels[y])

    def joint(self, columns: tuple[int, ...]) -> NDArray[np.int64]:
        """Joint counts of the columns, one axis each, in the given order.

        A search asks about x and y given z, x and z given y, and y and z given x, and a sample is
        drawn from the counts of all three: small ones are kept for every order.
        """
        levels = self.rows.cardinalities
        if len(columns) == 2 and len(levels) >= _WIDE and self._first[-1] <= _MOST_LEVELS:
            (x, to_x), (y, to_y) = (self._first[c : c + 2] for c in columns)
            return self.keep("pairs", self.rows.pairs)[x:to_x, y:to_y].astype(np.int64)
        if math.prod([levels[c] for c in columns]) > _JOINT_CELLS:
            return self.rows.counts(columns)
        ordered = tuple(sorted(columns))
        found = self.keep(("joint", ordered), lambda: self.rows.counts(ordered))
        return found if ordered == columns else found.transpose([ordered.index(c) for c in columns])

    def kept(self, key: Hashable) -> object | None:
        """What is kept under the key, or None; nothing is computed."""
        return self._kept.get((self._mine, key))

    def index_of_rows(self) -> NDArray[np.int64]:
        """Each original row's index among the folded ones, shape (n,)."""
        if self._weights is None:
            return self._row_index
        if self._spread is None:  # the table was folded on reading: spread out when asked for
            self._spread = np.repeat(self._row_index, self._weights)
        return self._spread

    @property
    def bytes(self) -> int:
        """Bytes held by tables and scores, those of the stores that share its bound too."""
        return self._kept.bytes


_stores: WeakKeyDictionary[Dataset, Store] = WeakKeyDictionary()


def store_of(data: Dataset) -> Store:
    """The dataset's store; made at the first call, dropped with the dataset."""
    store = _stores.get(data)
    if store is None:
        store = _stores[data] = Store(data)
    return store
