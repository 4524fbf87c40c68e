"""Samples of rows without replacement, drawn no further than the tables asked for need.

The draws are hypergeometric, many at a time, in compiled code. numpy draws the same way (urn for
small samples, else Stadlober's 1989 ratio of uniforms HRUA), but its calls cost more than most
draws here. So compiled code calls the generator's own function for a uniform number, by its
address: that call is the one thing numba has no word for, and is written in its compiler's language
(llvmlite, which numba brings and pins).
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from engine.compiled import kernel
from engine.randomness import Randomness
from engine.tables.store import Rows, Store, layout

_KEPT_BYTES = 1 << 12  # a larger growth is cheap to make again for the room it would take


def draw(store: Store, m: int, randomness: Randomness) -> Rows | Subsample:
    """A fresh sample of m of the n rows without replacement; all of them for m >= n."""
    if m >= store.n:
        return store.rows
    # To draw rows takes a number for each of the n: with many, ever larger tables cost less.
    cells = 0 if randomness.by_row else max(Subsample.CELLS, store.n >> 4)
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
        self._source = uniforms(rng)
        self._columns: tuple[int, ...] = ()
        self._drawn = np.array([m], np.int64)  # counts over the columns, flat
        self._rows: Rows | _PickedRows | None = None

    def table(self, x: int, y: int, given: Sequence[int] = ()) -> NDArray[np.int64]:
        """Counts of shape (strata, levels of x, levels of y); see :meth:`Rows.table`."""
        if self._rows is None:
            wanted = (*given, x, y)
            if self._cells(wanted) <= self._most:
                return self._grow(_growth(self._store, self._columns, wanted))
            self._rows = self._pick()
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
            logs = log_factorials(self._store.n)
            self._drawn = split(growth.parts, self._drawn, self._source, logs).ravel()
            self._columns = growth.columns
        if growth.target is None:
            return self._drawn.reshape(growth.shape)
        return np.asarray(_margin(self._drawn, growth.target, growth.shape))

    def _pick(self) -> Rows | _PickedRows:
        """A uniform choice of rows with the counts drawn so far."""
        rows, row_index = self._store.rows, self._store.index_of_rows()
        if not self._columns:
            chosen = self._rng.choice(self._store.n, self.n, replace=False, shuffle=False)
            times = np.bincount(row_index[chosen], minlength=len(rows.codes)).astype(np.int32)
            return _picked(rows, times)
        cell = rows.cells(self._columns)
        left = rows.counts(self._columns).ravel().astype(np.int32)
        wanted = self._drawn.astype(np.int32)
        return _picked(rows, _pick(self._source, row_index, cell, wanted, left))


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
    def make(store: Store, known: tuple[int, ...], wanted: tuple[int, ...]) -> _Growth:
        """Count the rows over both, and number the cells."""
        new = tuple(c for c in wanted if c not in known)
        columns, levels = known + new, store.rows.cardinalities
        parts = None
        if new:
            kinds = math.prod([levels[c] for c in new])
            # In C order like all others: another order would be compiled for, too.
            parts = np.ascontiguousarray(store.joint(columns).reshape(-1, kinds))
        cells, strides = layout(tuple([levels[c] for c in wanted]))
        x, y = levels[wanted[-2]], levels[wanted[-1]]
        shape = cells // (x * y), x, y
        if columns == wanted:
            return _Growth(columns, parts, None, shape)
        stride = dict(zip(wanted, strides.tolist(), strict=True))
        axes = np.array([[levels[c] for c in columns], [stride.get(c, 0) for c in columns]])
        return _Growth(columns, parts, np.asarray(_places(axes)), shape)


@kernel()
def _places(axes):  # type: ignore[no-untyped-def]
    """For every cell of a table, in order, the sum of its codes times strides.

    ``axes`` (2, columns): the levels of each and its stride, 0 for a column that is summed over.
    """
    out = np.zeros(np.prod(axes[0]), np.int32)
    done = 1  # how many cells the columns so far have; they are numbered in out[:done]
    for i in range(axes.shape[1]):
        levels, stride = axes[0, i], axes[1, i]
        for cell in range(done - 1, -1, -1):  # backwards: a cell's places follow its number
            first = out[cell]
            for level in range(levels):
                out[cell * levels + level] = first + level * stride
        done *= levels
    return out


@kernel()
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
    made = _Growth.make(store, known, wanted)
    return store.keep(key, lambda: made) if made.nbytes <= _KEPT_BYTES else made


def _picked(folded: Rows, times: NDArray[np.int32]) -> Rows | _PickedRows:
    """Rows of which each folded one is taken so many times."""
    found = int(np.count_nonzero(times))
    if 2 * found > times.size:  # to gather most of them costs more than the rest
        return Rows(folded.codes, times, folded.cardinalities, int(times.sum()))
    return _PickedRows(folded, *_positive(times, found))


class _PickedRows:
    """Chosen rows, the folded ones ``picked``; a column is gathered when first asked for."""

    def __init__(self, folded: Rows, picked: NDArray[np.int64], weights: NDArray[np.int32]):
        self._folded, self._picked = folded, picked
        codes = np.empty((folded.codes.shape[1], weights.size), folded.codes.dtype).T
        self._rows = Rows(codes, weights, folded.cardinalities, int(weights.sum()))
        self._gathered: set[int] = set()

    def table(self, x: int, y: int, given: Sequence[int] = ()) -> NDArray[np.int64]:
        for column in {x, y, *given} - self._gathered:
            # "clip" looks up without a copy in between; no index is out of range.
            into = self._rows.codes[:, column]
            np.take(self._folded.codes[:, column], self._picked, out=into, mode="clip")
            self._gathered.add(column)
        return self._rows.table(x, y, given)


@kernel()
def _positive(times, count):  # type: ignore[no-untyped-def]
    """(where they are, the positive numbers); there are ``count``."""
    where, numbers = np.empty(count + 1, np.int64), np.empty(count + 1, np.int32)
    found = 0
    for i in range(times.size):  # written down in any case: a branch would be guessed wrong
        where[found], numbers[found] = i, times[i]
        found += times[i] > 0
    return where[:count], numbers[:count]


@kernel()
def _pick(source, row_index, cell, wanted, left):  # type: ignore[no-untyped-def]
    """Selection sampling (Knuth 3.4.2 S) within every cell: how often each folded row is taken.

    Row r is taken with probability wanted / left of its cell; both count down in place.
    """
    times = np.zeros(cell.size, np.int32)
    for r in range(row_index.size):
        folded = row_index[r]
        c = cell[folded]
        # Adding it costs less than a branch, which would be guessed wrong half of the time.
        taken = next_uniform(source) * left[c] < wanted[c]
        times[folded] += taken
        wanted[c] -= taken
        left[c] -= 1
    return times


# Hypergeometric draws ------------------------------------------------------------------


Uniforms = tuple[int, int]

# Log-factorials up to here are looked up (8 MB at most); beyond it each is computed.
_LOOKED_UP = 1 << 20


@lru_cache(maxsize=1)  # a run draws thousands of samples from one generator
def uniforms(rng: np.random.Generator) -> Uniforms:
    """Where compiled code finds the generator's uniform numbers: a function's address, its state's.

    To hand numba the generator itself takes 10 microseconds a call, more than most tables' draws.
    The addresses are good as long as the generator lives; its numbers are those of ``rng.random``.
    """
    interface = rng.bit_generator.ctypes
    function = ctypes.cast(interface.next_double, ctypes.c_void_p).value
    assert function is not None
    return function, interface.state_address


def _next_uniform(_: Any, source: Any) -> Any:
    """The call of the function at the first address with the second, for numba's compiler."""

    def call(_: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        address, state = (builder.extract_value(arguments[0], i) for i in (0, 1))
        kind = ir.FunctionType(ir.DoubleType(), [address.type])  # double next_double(void *state)
        return builder.call(builder.inttoptr(address, kind.as_pointer()), [state])

    return types.float64(source), call


# The next number between 0 and 1 of `uniforms`, in compiled code.
next_uniform: Any = intrinsic(_next_uniform)


@lru_cache(maxsize=4)
def log_factorials(n: int) -> NDArray[np.float64]:
    """ln(k!) for k = 0..n, or as far as they are looked up."""
    return np.asarray(_log_factorials(min(n, _LOOKED_UP) + 1))


@kernel()
def _log_factorials(size):  # type: ignore[no-untyped-def]
    """By the very function that is called beyond the table: a draw does not depend on its size."""
    out = np.empty(size)
    for k in range(size):
        out[k] = math.lgamma(k + 1.0)
    return out


@kernel()
def split(parts, drawn, source, logs):  # type: ignore[no-untyped-def]
    """Draw ``drawn[i]`` of the items of row i without replacement, for every row.

    ``parts`` (rows, kinds) says how many items of each kind there are; returns how many of each
    were drawn, in the same shape. The kinds are drawn one after the other, each given those before.
    ``source`` is :func:`uniforms`, ``logs`` :func:`log_factorials` of the number of all items.
    """
    out = np.zeros(parts.shape, np.int64)
    for i in range(parts.shape[0]):
        left = drawn[i]
        rest = parts[i].sum()
        for kind in range(parts.shape[1]):
            if left == 0:
                break
            rest -= parts[i, kind]
            out[i, kind] = hypergeometric(parts[i, kind], rest, left, source, logs)
            left -= out[i, kind]
    return out


@kernel()
def hypergeometric(good, bad, sample, source, logs):  # type: ignore[no-untyped-def]
    """How many of ``sample`` items drawn without replacement are good."""
    total = good + bad
    if good == 0 or bad == 0 or sample == total:
        return sample if bad == 0 else good if sample == total else 0
    few, many = min(good, bad), max(good, bad)
    size = min(sample, total - sample)
    if size < 10:
        found = _urn(few, total, size, source)
    else:
        found = _ratio_of_uniforms(few, many, size, source, logs)
    if good > bad:
        found = size - found
    return found if size == sample else good - found


@kernel(inner=True)
def _urn(good, total, size, source):  # type: ignore[no-untyped-def]
    """Item by item."""
    left = good
    for i in range(size):
        if next_uniform(source) * (total - i) < left:
            left -= 1
    return good - left


@kernel(inner=True)
def _ratio_of_uniforms(few, many, size, source, logs):  # type: ignore[no-untyped-def]
    """HRUA with its squeezes; ``few`` <= ``many``, ``size`` at most half of both together."""
    total = few + many
    p = few / total
    mean = size * p
    variance = (total - size) * size * p * (1 - p) / (total - 1)
    width = math.sqrt(variance + 0.5)
    scale = 1.7155277699214135 * width + 0.8989161620588988  # 2 sqrt(2/e), 3 - 2 sqrt(3/e)
    mode = int((size + 1) * (few + 1) / (total + 2))
    top = _log_ways(mode, few, many, size, logs)
    end = min(min(size, few) + 1, math.floor(mean + 0.5 + 16 * width))
    while True:
        u, v = next_uniform(source), next_uniform(source)
        if u == 0.0:
            continue
        x = mean + 0.5 + scale * (v - 0.5) / u
        if x < 0.0 or x >= end:
            continue
        k = int(x)
        t = top - _log_ways(k, few, many, size, logs)
        if u * (4.0 - u) - 3.0 <= t:
            return k
        if u * (u - t) < 1.0 and 2.0 * math.log(u) <= t:
            return k


@kernel(inner=True)
def _log_ways(k, few, many, size, logs):  # type: ignore[no-untyped-def]
    """Minus the log of the probability of k, up to a constant."""
    return (
        _log_factorial(k, logs)
        + _log_factorial(few - k, logs)
        + _log_factorial(size - k, logs)
        + _log_factorial(many - size + k, logs)
    )


@kernel(inner=True)
def _log_factorial(k, logs):  # type: ignore[no-untyped-def]
    return logs[k] if k < logs.size else math.lgamma(k + 1.0)
