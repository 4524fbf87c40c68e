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
from threading import RLock
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
_KEPT_BYTES = 1 << 12  # a larger growth is cheap to make again beside the room it would take


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
        self._lock = RLock()  # runs in several threads may share a dataset

    def lookup(self, key: Hashable, make: Callable[[], T]) -> T:
        """The kept value, or the one that ``make`` computes, kept from now on."""
        with self._lock:
            found = self.get(key, _MISSING)
            if found is not _MISSING:
                self.move_to_end(key)
                return found  # type: ignore[return-value]
        value = make()  # outside the lock: two threads may both compute it, neither waits
        with self._lock:
            if key not in self:
                self.bytes += self._size(value)
            self[key] = value
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

    def index_of_rows(self) -> NDArray[np.int64]:
        """Each original row's index among the folded ones, shape (n,)."""
        return self._row_index

    @property
    def bytes(self) -> int:
        """Bytes held by kept tables and scores."""
        return self._kept.bytes

    def growth(self, known: tuple[int, ...], wanted: tuple[int, ...]) -> _Growth:
        """How to go from counts over the known columns to a table of the wanted ones; kept."""
        key = ("growth", known, wanted)
        found = self._kept.get(key)
        if isinstance(found, _Growth):
            return found
        made = _Growth.make(self.rows, known, wanted)
        return self.keep(key, lambda: made) if made.nbytes <= _KEPT_BYTES else made

    def subsample(self, m: int, rng: np.random.Generator) -> Rows | Subsample:
        """m of the n rows, drawn without replacement; all of them for m >= n."""
        return self.rows if m >= self.n else Subsample(self, m, rng)

    def pick(
        self, columns: tuple[int, ...], drawn: NDArray[np.int64], rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """A uniform choice of rows with the given counts; each as its index among folded rows.

        ``drawn`` (cells of the columns, flat) without any columns is the number of rows alone.
        """
        if not columns:
            chosen = rng.choice(self.n, int(drawn[0]), replace=False, shuffle=False)
            return np.asarray(self._row_index[chosen])
        strides = _layout(tuple(self.rows.cardinalities[c] for c in columns))[1]
        cell = np.zeros(len(self.rows.codes), np.int32)
        for column, stride in zip(columns, strides, strict=True):
            cell += self.rows.codes[:, column] * np.int32(stride)
        left, wanted = self.rows.counts(columns).ravel(), drawn.copy()
        uniform = rng.random(self.n)
        picked = _pick(uniform, self._row_index, cell, wanted, left, int(drawn.sum()))
        return np.asarray(picked)


class Subsample:
    """m rows without replacement, of which no more is drawn than the tables asked for need.

    Given a sample's counts over some columns, its counts over more columns are independent
    hypergeometric draws, cell by cell. So each table splits what earlier ones have drawn; from
    ``CELLS`` cells on the rows themselves are drawn, given those counts. The tables are
    distributed as if m rows had been drawn at once, and agree with each other.
    """

    CELLS = 1 << 14

    def __init__(self, store: Store, m: int, rng: np.random.Generator):
        self.n, self._store, self._rng = m, store, rng
        self._columns: tuple[int, ...] = ()
        self._drawn = np.array([m], np.int64)  # counts over the columns, flat
        self._rows: _PickedRows | None = None

    def table(self, x: int, y: int, given: Sequence[int] = ()) -> NDArray[np.int64]:
        """Counts of shape (strata, levels of x, levels of y); see :meth:`Rows.table`."""
        if self._rows is None:
            wanted = (*given, x, y)
            if self._cells(wanted) <= self.CELLS:
                return self._grow(self._store.growth(self._columns, wanted))
            picked = self._store.pick(self._columns, self._drawn, self._rng)
            self._rows = _PickedRows(self._store.rows, picked)
        return self._rows.table(x, y, given)

    def _cells(self, wanted: tuple[int, ...]) -> int:
        """How many cells the counts would have over the wanted columns too."""
        cells, levels = self._drawn.size, self._store.rows.cardinalities
        for column in wanted:
            if column not in self._columns:
                cells *= levels[column]
        return cells

    def _grow(self, growth: _Growth) -> NDArray[np.int64]:
        """Draw what is missing; the table as a margin of what is drawn by now."""
        if growth.parts is not None:
            self._drawn = _split(growth.parts, self._drawn, self._rng).ravel()
            self._columns = growth.columns
        if growth.target is None:
            return self._drawn.reshape(growth.shape)
        return np.asarray(_margin(self._drawn, growth.target, growth.shape))


@dataclass(frozen=True, eq=False)
class _Growth:
    """From a sample's counts over known columns to its table of others.

    ``columns`` are known afterwards; ``parts`` (known cells, cells of the new columns) counts all
    rows, None if nothing is new; ``target`` is each cell's place in the table of the given shape,
    None where the places are the same.
    """

    columns: tuple[int, ...]
    parts: NDArray[np.int64] | None
    target: NDArray[np.int32] | None
    shape: tuple[int, int, int]

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return sum(0 if a is None else a.nbytes for a in (self.parts, self.target))

    @staticmethod
    def make(rows: Rows, known: tuple[int, ...], wanted: tuple[int, ...]) -> _Growth:
        """Count the rows over both, and number the cells."""
        new = tuple(c for c in wanted if c not in known)
        columns, levels = known + new, rows.cardinalities
        sizes = [levels[c] for c in columns]
        parts = None
        if new:
            parts = rows.counts(columns).reshape(math.prod(levels[c] for c in known), -1)
        *given, x, y = wanted
        shape = math.prod(levels[c] for c in given), levels[x], levels[y]
        if columns == wanted:
            return _Growth(columns, parts, None, shape)
        target = np.zeros(sizes, np.int32)
        strides = _layout(tuple(levels[c] for c in wanted))[1]
        for column, stride in zip(wanted, strides, strict=True):
            axis = columns.index(column)
            place = np.arange(levels[column], dtype=np.int32) * np.int32(stride)
            target += place.reshape([-1 if i == axis else 1 for i in range(len(sizes))])
        return _Growth(columns, parts, target.ravel(), shape)


@njit(cache=True, nogil=True)
def _margin(counts, target, shape):  # type: ignore[no-untyped-def]
    """Counts summed by their place in a table of the given shape."""
    out = np.zeros(shape[0] * shape[1] * shape[2], np.int64)
    for i in range(counts.size):
        out[target[i]] += counts[i]
    return out.reshape(shape)


class _PickedRows:
    """Chosen rows, each a folded row's index; a column is gathered when first asked for."""

    def __init__(self, folded: Rows, picked: NDArray[np.int64]):
        self._folded, self._picked = folded, picked
        codes = np.empty((folded.codes.shape[1], picked.size), folded.codes.dtype).T
        self._rows = Rows(codes, np.empty(0, np.int32), folded.cardinalities, picked.size)
        self._gathered: set[int] = set()

    def table(self, x: int, y: int, given: Sequence[int] = ()) -> NDArray[np.int64]:
        for column in {x, y, *given} - self._gathered:
            np.take(self._folded.codes[:, column], self._picked, out=self._rows.codes[:, column])
            self._gathered.add(column)
        return self._rows.table(x, y, given)


@njit(cache=True, nogil=True)
def _split(parts, drawn, rng):  # type: ignore[no-untyped-def]
    """Draw ``drawn[i]`` of the items of row i without replacement, for every row.

    ``parts`` (rows, kinds) says how many items of each kind there are; returns how many of each
    were drawn, in the same shape. The kinds are drawn one after the other, each given those before.
    """
    out = np.zeros(parts.shape, np.int64)
    for i in range(parts.shape[0]):
        left = drawn[i]
        rest = parts[i].sum()
        for kind in range(parts.shape[1]):
            if left == 0:
                break
            rest -= parts[i, kind]
            out[i, kind] = _hypergeometric(rng, parts[i, kind], rest, left)
            left -= out[i, kind]
    return out


@njit(cache=True, nogil=True)
def _hypergeometric(rng, good, bad, sample):  # type: ignore[no-untyped-def]
    """How many of ``sample`` items drawn without replacement are good.

    numpy draws the same way (urn for small samples, else Stadlober's 1989 ratio of uniforms HRUA),
    but its calls cost more than most draws here.
    """
    total = good + bad
    if good == 0 or bad == 0 or sample == total:
        return sample if bad == 0 else good if sample == total else 0
    few, many = min(good, bad), max(good, bad)
    size = min(sample, total - sample)
    found = _urn(rng, few, total, size) if size < 10 else _ratio_of_uniforms(rng, few, many, size)
    if good > bad:
        found = size - found
    return found if size == sample else good - found


@njit(cache=True, nogil=True)
def _urn(rng, good, total, size):  # type: ignore[no-untyped-def]
    """Item by item."""
    left = good
    for i in range(size):
        if rng.random() * (total - i) < left:
            left -= 1
    return good - left


@njit(cache=True, nogil=True)
def _ratio_of_uniforms(rng, few, many, size):  # type: ignore[no-untyped-def]
    """HRUA with its squeezes; ``few`` <= ``many``, ``size`` at most half of both together."""
    total = few + many
    p = few / total
    mean = size * p
    variance = (total - size) * size * p * (1 - p) / (total - 1)
    width = math.sqrt(variance + 0.5)
    scale = 1.7155277699214135 * width + 0.8989161620588988  # 2 sqrt(2/e), 3 - 2 sqrt(3/e)
    mode = int((size + 1) * (few + 1) / (total + 2))
    top = _log_ways(mode, few, many, size)
    end = min(min(size, few) + 1, math.floor(mean + 0.5 + 16 * width))
    while True:
        u, v = rng.random(), rng.random()
        if u == 0.0:
            continue
        x = mean + 0.5 + scale * (v - 0.5) / u
        if x < 0.0 or x >= end:
            continue
        k = int(x)
        t = top - _log_ways(k, few, many, size)
        if u * (4.0 - u) - 3.0 <= t:
            return k
        if u * (u - t) < 1.0 and 2.0 * math.log(u) <= t:
            return k


@njit(cache=True, nogil=True)
def _log_ways(k, few, many, size):  # type: ignore[no-untyped-def]
    """Minus the log of the probability of k, up to a constant."""
    return (
        math.lgamma(k + 1.0)
        + math.lgamma(few - k + 1.0)
        + math.lgamma(size - k + 1.0)
        + math.lgamma(many - size + k + 1.0)
    )


@njit(cache=True, nogil=True)
def _pick(uniform, row_index, cell, wanted, left, m):  # type: ignore[no-untyped-def]
    """Selection sampling (Knuth 3.4.2 S) within every cell: folded rows' indices, m of them.

    Row r is taken with probability wanted / left of its cell; both count down in place.
    """
    out = np.empty(m, np.int64)
    taken = 0
    for r in range(row_index.size):
        c = cell[row_index[r]]
        if uniform[r] * left[c] < wanted[c]:
            out[taken] = row_index[r]
            taken += 1
            wanted[c] -= 1
        left[c] -= 1
    return out


_stores: WeakKeyDictionary[Dataset, Store] = WeakKeyDictionary()


def store_of(data: Dataset) -> Store:
    """The dataset's store; made at the first call, dropped with the dataset."""
    store = _stores.get(data)
    if store is None:
        store = _stores[data] = Store(data)
    return store
