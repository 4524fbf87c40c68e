"""Samples of rows without replacement, drawn no further than the tables asked for need."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from engine.randomness import Randomness
from engine.tables.rows import Rows, layout
from engine.tables.store import Store

_KEPT_BYTES = 1 << 12  # a larger growth is cheap to make again beside the room it would take


def draw(store: Store, m: int, randomness: Randomness) -> Rows | Subsample:
    """A fresh sample of m of the n rows without replacement; all of them for m >= n."""
    if m >= store.n:
        return store.rows
    cells = 0 if randomness.by_row else Subsample.CELLS
    return Subsample(store, m, randomness.generator("sample"), cells)


class Subsample:
    """m rows without replacement, of which no more is drawn than the tables asked for need.

    Given a sample's counts over some columns, its counts over more columns are independent
    hypergeometric draws, cell by cell. So each table splits what earlier ones have drawn; from
    ``cells`` cells on the rows themselves are drawn, given those counts. The tables are
    distributed as if m rows had been drawn at once, and agree with each other.
    """

    CELLS = 1 << 14

    def __init__(self, store: Store, m: int, rng: np.random.Generator, cells: int = CELLS):
        self.n, self._store, self._rng, self._most = m, store, rng, cells
        self._columns: tuple[int, ...] = ()
        self._drawn = np.array([m], np.int64)  # counts over the columns, flat
        self._rows: _PickedRows | None = None

    def table(self, x: int, y: int, given: Sequence[int] = ()) -> NDArray[np.int64]:
        """Counts of shape (strata, levels of x, levels of y); see :meth:`Rows.table`."""
        if self._rows is None:
            wanted = (*given, x, y)
            if self._cells(wanted) <= self._most:
                return self._grow(_growth(self._store, self._columns, wanted))
            picked = _picked(self._store, self._columns, self._drawn, self._rng)
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
        parts = None
        if new:
            parts = rows.counts(columns).reshape(math.prod(levels[c] for c in known), -1)
        *given, x, y = wanted
        shape = math.prod(levels[c] for c in given), levels[x], levels[y]
        if columns == wanted:
            return _Growth(columns, parts, None, shape)
        strides = layout(tuple(levels[c] for c in wanted))[1]
        stride = dict(zip(wanted, strides.tolist(), strict=True))
        target = _places(np.array([(levels[c], stride.get(c, 0)) for c in columns], np.int64))
        return _Growth(columns, parts, target, shape)


@njit(cache=True, nogil=True)
def _places(axes):  # type: ignore[no-untyped-def]
    """For every cell of a table, in order, the sum of its codes times strides.

    ``axes`` (columns, 2): the levels of each and its stride, 0 for a column that is summed over.
    """
    out = np.zeros(np.prod(axes[:, 0]), np.int32)
    done = 1  # how many cells the columns so far have; they are numbered in out[:done]
    for i in range(axes.shape[0]):
        levels, stride = axes[i]
        for cell in range(done - 1, -1, -1):  # backwards: a cell's places follow its number
            first = out[cell]
            for level in range(levels):
                out[cell * levels + level] = first + level * stride
        done *= levels
    return out


@njit(cache=True, nogil=True)
def _margin(counts, target, shape):  # type: ignore[no-untyped-def]
    """Counts summed by their place in a table of the given shape."""
    out = np.zeros(shape[0] * shape[1] * shape[2], np.int64)
    for i in range(counts.size):
        out[target[i]] += counts[i]
    return out.reshape(shape)


def _growth(store: Store, known: tuple[int, ...], wanted: tuple[int, ...]) -> _Growth:
    """How to go from counts over the known columns to a table of the wanted ones; kept if small."""
    key = ("growth", known, wanted)
    found = store.kept(key)
    if isinstance(found, _Growth):
        return found
    made = _Growth.make(store.rows, known, wanted)
    return store.keep(key, lambda: made) if made.nbytes <= _KEPT_BYTES else made


def _picked(
    store: Store, columns: tuple[int, ...], drawn: NDArray[np.int64], rng: np.random.Generator
) -> NDArray[np.int64]:
    """A uniform choice of rows with the given counts; each as its index among folded rows.

    ``drawn`` (cells of the columns, flat) without any columns is the number of rows alone.
    """
    row_index = store.index_of_rows()
    if not columns:
        chosen = rng.choice(store.n, int(drawn[0]), replace=False, shuffle=False)
        return np.asarray(row_index[chosen])
    strides = layout(tuple(store.rows.cardinalities[c] for c in columns))[1]
    cell = np.zeros(len(store.rows.codes), np.int32)
    for column, stride in zip(columns, strides, strict=True):
        cell += store.rows.codes[:, column] * np.int32(stride)
    left, wanted = store.rows.counts(columns).ravel(), drawn.copy()
    uniform = rng.random(store.n)
    return np.asarray(_pick(uniform, row_index, cell, wanted, left, int(drawn.sum())))


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
