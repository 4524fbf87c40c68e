"""A dataset's folded rows, their stored tables of counts, and samples from them.

Rows are folded to distinct rows with weights. Stored counts serve later draws, budgets and
algorithms, within one memory limit. Samples without replacement are drawn only as far as the
requested tables need.
"""

from __future__ import annotations

import math
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import accumulate
from threading import RLock
from typing import Any, TypeVar
from weakref import WeakKeyDictionary, finalize

import numpy as np
from numpy.typing import NDArray

from engine.compiled import kernel
from engine.data.dataset import Dataset, mixed_radix_keys
from engine.randomness import Randomness

DENSE_CELLS = 1 << 20  # with more cells, only the occupied strata of a query are counted
_BLOCK = 4096
# neighbouring rows often hit one cell; separate sums prevent them from waiting for each other
_LANES = 4
_LANE_CELLS = 1 << 14


@kernel()
def _count_cells(columns, which, strides, index, weights, cells):  # type: ignore[no-untyped-def]
    """Count every cell; the cell's index is built column by column (vectorised).

    ``columns`` has (d, k) contiguous rows; ``which`` has the columns of the query. ``strides`` and
    the scratch ``index`` (_BLOCK,) have the narrowest type for a cell's number. ``weights`` is (k,)
    int32.
    """
    # Cell number of row r: sum over the query's columns i of columns[which[i]][r] * strides[i]. It
    # is built for one block of rows at a time, column by column, so that the inner loops vectorise
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
    """Return every row's cell; the arguments are those of :func:`_count_cells`."""
    out = np.zeros(columns.shape[1], np.int32)
    for i in range(which.size):
        column, stride = columns[which[i]], strides[i]
        for r in range(out.size):
            out[r] += column[r] * stride
    return out


@lru_cache(maxsize=4096)
def layout(sizes: tuple[int, ...]) -> tuple[int, NDArray[np.unsignedinteger]]:
    """Return the number of cells, and strides in the narrowest type for a cell's number."""
    cells = math.prod(sizes)
    strides = [math.prod(sizes[i + 1 :]) for i in range(len(sizes))]
    return cells, np.array(strides, np.uint16 if cells <= 1 << 16 else np.uint32)


@dataclass(frozen=True, eq=False)
class Rows:
    """Coded rows with weights: a folded dataset or a subsample of it.

    ``codes`` is (k, d), columns contiguous; ``weights`` is (k,) int32. ``cardinalities`` has the
    public number of levels of each column, and ``n`` is the sum of weights.
    """

    codes: NDArray[np.unsignedinteger]
    weights: NDArray[np.int32]
    cardinalities: tuple[int, ...]
    n: int

    def table(self, x: int, y: int, given: Sequence[int] = ()) -> NDArray[np.int64]:
        """Return counts of shape (strata, levels of x, levels of y), int64.

        The strata are all configurations of the conditioning set in mixed-radix order, or only the
        occupied ones if there would be more than ``DENSE_CELLS`` cells.
        """
        columns = (*given, x, y)
        sizes = [self.cardinalities[c] for c in columns]
        shape = (math.prod(sizes[:-2]), sizes[-2], sizes[-1])
        if math.prod(shape) > DENSE_CELLS:
            return self.occupied(x, y, given)[0]
        return self._count(columns, sizes).reshape(shape)

    def _count(self, columns: Sequence[int], sizes: Sequence[int]) -> NDArray[np.int64]:
        cells, strides = layout(tuple(sizes))
        which, index = np.array(columns, np.int64), np.empty(_BLOCK, strides.dtype)
        counts = _count_cells(self.codes.T, which, strides, index, self.weights, cells)
        return np.asarray(counts, dtype=np.int64)

    def occupied(
        self, x: int, y: int, given: Sequence[int]
    ) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
        """Return the table of the occupied strata, in mixed-radix order, and one row of each."""
        codes, sizes = self.codes, self.cardinalities
        keys = mixed_radix_keys(codes[:, given], [sizes[c] for c in given])
        _, first, stratum = np.unique(keys, return_index=True, return_inverse=True)
        out = np.zeros((first.size, sizes[x], sizes[y]), np.int64)
        np.add.at(out, (stratum, codes[:, x], codes[:, y]), self.weights)
        return out, first

    def counts(self, columns: Sequence[int]) -> NDArray[np.int64]:
        """Return joint counts of the columns, one axis each, in the given order."""
        sizes = [self.cardinalities[c] for c in columns]
        return self._count(columns, sizes).reshape(sizes)

    def pairs(self) -> NDArray[np.int32]:
        """Count every pair of levels of all columns, one after the other, as one product."""
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
        """Return each row's cell in the flat counts of the columns."""
        strides = layout(tuple(self.cardinalities[c] for c in columns))[1]
        return np.asarray(_cells(self.codes.T, np.array(columns, np.int64), strides))


def fold(data: Dataset) -> tuple[Rows, NDArray[np.int64]]:
    """Fold to distinct rows with weights; also return each row's index among them."""
    keys = mixed_radix_keys(data.codes, data.cardinalities)
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    weights = np.bincount(inverse, data.weights)
    codes = np.asfortranarray(data.codes[first])
    return Rows(codes, weights.astype(np.int32), data.cardinalities, data.n), inverse


# Kept counts ---------------------------------------------------------------------------

_JOINT_CELLS = 1 << 9  # 4 kB; larger counts would evict scores
# With at least this many columns, all pairs are counted at once, up to this many levels (64 MB).
_WIDE, _MOST_LEVELS = 64, 4_000

T = TypeVar("T")
V = TypeVar("V")
Key = tuple[Hashable, ...]
STORE_BYTES = 512 << 20  # memory limit of all stores in a process together


class Known(dict[Hashable, V]):
    """Many small values that are looked up together, for example the scores of a pair by set.

    Only :meth:`Store.note` adds to it while it is stored.
    """

    @property
    def nbytes(self) -> int:
        """The approximate number of bytes."""
        return _ENTRY_BYTES * len(self)


class Bounded(OrderedDict[Key, object]):
    """Least-recently-used mapping that holds at most ``limit`` bytes by ``size``.

    Keys are tuples; keys with the same beginning can be removed together.
    """

    def __init__(self, limit: int, size: Callable[[object], int]):
        super().__init__()
        self._limit, self._size, self.bytes = limit, size, 0
        # Searching all keys for those of one dataset took longer than counting it again.
        self._alike: defaultdict[Hashable, set[Key]] = defaultdict(set)
        self.lock = RLock()  # runs in several threads may share a dataset

    def lookup(self, key: Key, make: Callable[[], T]) -> T:
        """Return the stored value, or compute it with ``make`` and store it."""
        found = self.get(key, _MISSING)
        if found is not _MISSING:
            # before that nothing is evicted soon, and keeping order costs time
            if 2 * self.bytes > self._limit:
                with self.lock:
                    if key in self:
                        self.move_to_end(key)
            return found  # type: ignore[return-value]
        value = make()  # outside the lock: two threads may both compute it, but neither waits
        with self.lock:
            if key not in self:
                self.bytes += self._size(value)
                self._alike[key[0]].add(key)
            self[key] = value
            self.trim()
        return value

    def trim(self) -> None:
        """Evict the least recently used entries until the rest fits."""
        while self.bytes > self._limit and len(self) > 1:
            oldest, dropped = self.popitem(last=False)
            self.bytes -= self._size(dropped)
            alike = self._alike[oldest[0]]
            alike.discard(oldest)
            if not alike:  # a dataset that stays in use would keep an empty set here
                del self._alike[oldest[0]]

    def forget(self, first: Hashable) -> None:
        """Remove every entry with a key that begins with ``first``."""
        with self.lock:
            for key in self._alike.pop(first, ()):
                self.bytes -= self._size(self.pop(key))


_MISSING = object()
_ENTRY_BYTES = 200  # the approximate size of a Python object, its key and its slot


def _size(value: object) -> int:
    return _ENTRY_BYTES + int(getattr(value, "nbytes", 0))


_shared = Bounded(STORE_BYTES, _size)


class Store:
    """Counts and values computed for one dataset, reused by every later draw.

    All stores share one memory limit; the least recently used entry is evicted first.
    """

    def __init__(self, data: Dataset):
        self.rows, self._row_index = fold(data)
        self.n, self._weights = data.n, data.weights
        # index of each column's first level
        self._first = [0, *accumulate(self.rows.cardinalities)]
        self._spread: NDArray[np.int64] | None = None
        self._kept = _shared
        self._mine = object()  # first part of each key of this store
        # The end of the process frees everything at once; clearing entry by entry took seconds.
        finalize(self, self._kept.forget, self._mine).atexit = False

    def keep(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return a deterministic quantity of the dataset, computed at most once while stored."""
        return self._kept.lookup((self._mine, key), make)

    def known(self, key: Hashable) -> Known[Any]:
        """Return small values stored under one key, each by name; see :meth:`note`."""
        return self.keep(key, Known)

    def note(self, key: Hashable, known: Known[V], name: Hashable, value: V) -> None:
        """Add a value to the result of :meth:`known`, and update its size if it is still stored."""
        with self._kept.lock:
            if name not in known:
                known[name] = value
                if self._kept.get((self._mine, key)) is known:
                    self._kept.bytes += _ENTRY_BYTES
                    self._kept.trim()

    def table(self, x: int, y: int, given: tuple[int, ...] = ()) -> NDArray[np.int64]:
        """Return the query's table on all rows, counted at most once while it is stored."""
        return self.keep(("table", x, y, given), lambda: self.count(x, y, given))

    def count(self, x: int, y: int, given: tuple[int, ...] = ()) -> NDArray[np.int64]:
        """Count the query's table on all rows."""
        columns, levels = (*given, x, y), self.rows.cardinalities
        if math.prod([levels[c] for c in columns]) > _JOINT_CELLS:
            return self.rows.table(x, y, given)
        return self.joint(columns).reshape(-1, levels[x], levels[y])

    def joint(self, columns: tuple[int, ...]) -> NDArray[np.int64]:
        """Return joint counts of the columns, one axis each, in the given order.

        A search tests x and y given z, x and z given y, and y and z given x. A sample is drawn from
        the counts of all three, so small ones are stored for every order.
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

    def index_of_rows(self) -> NDArray[np.int64]:
        """Each original row's index among the folded rows, shape (n,)."""
        if self._weights is None:
            return self._row_index
        if self._spread is None:  # the table was folded when read, and is expanded only on demand
            self._spread = np.repeat(self._row_index, self._weights)
        return self._spread


_stores: WeakKeyDictionary[Dataset, Store] = WeakKeyDictionary()


def store_of(data: Dataset) -> Store:
    """Return the dataset's store; created by the first call, deleted with the dataset."""
    store = _stores.get(data)
    if store is None:
        store = _stores[data] = Store(data)
    return store


# Samples ------------------------------------------------------------------------------


def draw(store: Store, m: int, randomness: Randomness) -> Rows | Subsample:
    """Draw a sample of m of the n rows without replacement, or all of them if m >= n."""
    if m >= store.n:
        return store.rows
    # Drawing rows takes a number for each of the n rows, so with many rows larger tables are
    # cheaper.
    cells = 0 if randomness.by_row else max(Subsample.CELLS, store.n >> 4)
    return Subsample(store, m, randomness.generator("sample"), cells)


class Subsample:
    """Sample m rows without replacement, lazily: draw only what requested tables need.

    Given a sample's counts over some columns, its counts over more columns are independent
    hypergeometric draws, cell by cell. Each table therefore splits the counts drawn earlier. From
    ``cells`` cells on, the rows themselves are drawn, given those counts. The tables have the same
    distribution as if m rows had been drawn at once, and they agree with each other.
    """

    CELLS = 1 << 14

    def __init__(self, store: Store, m: int, rng: np.random.Generator, cells: int = CELLS):
        self.n, self._store, self._rng, self._most = m, store, rng, cells
        self._columns: tuple[int, ...] = ()
        self._drawn = np.array([m], np.int64)  # flat counts over the columns
        self._rows: Rows | _PickedRows | None = None

    def table(self, x: int, y: int, given: Sequence[int] = ()) -> NDArray[np.int64]:
        """Return counts of shape (strata, levels of x, levels of y); see :meth:`Rows.table`."""
        if self._rows is None:
            wanted = (*given, x, y)
            if (cells := self._cells(wanted)) <= self._most:
                return self._grow(wanted, cells)
            self._rows = self._pick()
        return self._rows.table(x, y, given)

    def _cells(self, wanted: tuple[int, ...]) -> int:
        """Return the number of cells in the counts after adding the wanted columns."""
        cells, levels = self._drawn.size, self._store.rows.cardinalities
        for column in wanted:
            if column not in self._columns:
                cells *= levels[column]
        return cells

    def _grow(self, wanted: tuple[int, ...], cells: int) -> NDArray[np.int64]:
        """Draw the missing part; return the table as a margin of all counts drawn so far."""
        store, known = self._store, self._columns
        key, make = ("growth", known, wanted), partial(_Growth.make, store, known, wanted)
        # Making a larger one again is cheap compared with its size in memory.
        growth = store.keep(key, make) if cells <= _JOINT_CELLS else make()
        if growth.parts is not None:
            logs = log_factorials(store.n)
            self._drawn = split(growth.parts, self._drawn, self._rng, logs).ravel()
            self._columns = growth.columns
        if growth.target is None:
            return self._drawn.reshape(growth.shape)
        return np.asarray(_margin(self._drawn, growth.target, growth.shape))

    def _pick(self) -> Rows | _PickedRows:
        """Choose rows uniformly, given the counts drawn so far."""
        rows, row_index = self._store.rows, self._store.index_of_rows()
        if not self._columns:
            chosen = self._rng.choice(self._store.n, self.n, replace=False, shuffle=False)
            times = np.bincount(row_index[chosen], minlength=len(rows.codes)).astype(np.int32)
            return _picked(rows, times)
        cell = rows.cells(self._columns)
        left = rows.counts(self._columns).ravel().astype(np.int32)
        wanted = self._drawn.astype(np.int32)
        return _picked(rows, _pick(self._rng, row_index, cell, wanted, left))


@dataclass(frozen=True, eq=False)
class _Growth:
    """The step from a sample's counts over known columns to its table over other columns.

    ``columns`` are known afterwards. ``parts`` (known cells, cells of the new columns) counts all
    rows; it is None if nothing is new. ``target`` is each cell's place in the table of the given
    shape; it is None if the places are the same.
    """

    columns: tuple[int, ...]
    parts: NDArray[np.int64] | None
    target: NDArray[np.int32] | None
    shape: tuple[int, int, int]

    @property
    def nbytes(self) -> int:
        """The number of bytes."""
        return sum(0 if a is None else a.nbytes for a in (self.parts, self.target))

    @staticmethod
    def make(store: Store, known: tuple[int, ...], wanted: tuple[int, ...]) -> _Growth:
        """Count the rows over both kinds of columns and number the cells."""
        new = tuple(c for c in wanted if c not in known)
        columns, levels = known + new, store.rows.cardinalities
        parts = None
        if new:
            kinds = math.prod([levels[c] for c in new])
            # In C order like all others, because numba would compile for another order, too.
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
    """Return, for every cell of a table in order, the sum of its codes times strides.

    ``axes`` (2, columns) has each column's number of levels and its stride, which is 0 if the
    column is summed over.
    """
    out = np.zeros(np.prod(axes[0]), np.int32)
    done = 1  # number of cells of the columns so far; out[:done] has their numbers
    for i in range(axes.shape[1]):
        levels, stride = axes[0, i], axes[1, i]
        # backwards, so that a cell is read before its slot is overwritten
        for cell in range(done - 1, -1, -1):
            first = out[cell]
            for level in range(levels):
                out[cell * levels + level] = first + level * stride
        done *= levels
    return out


@kernel()
def _margin(counts, target, shape):  # type: ignore[no-untyped-def]
    """Sum counts by their place in a table of the given shape."""
    out = np.zeros(shape[0] * shape[1] * shape[2], np.int64)
    for i in range(counts.size):
        out[target[i]] += counts[i]
    return out.reshape(shape)


def _picked(folded: Rows, times: NDArray[np.int32]) -> Rows | _PickedRows:
    """Return rows in which each folded row occurs ``times`` times."""
    found = int(np.count_nonzero(times))
    if 2 * found > times.size:  # collecting most of them costs more than the rest
        return Rows(folded.codes, times, folded.cardinalities, int(times.sum()))
    return _PickedRows(folded, *_positive(times, found))


class _PickedRows:
    """Chosen rows, the folded ones ``picked``; a column is gathered when first requested."""

    def __init__(self, folded: Rows, picked: NDArray[np.int64], weights: NDArray[np.int32]):
        self._folded, self._picked = folded, picked
        codes = np.empty((folded.codes.shape[1], weights.size), folded.codes.dtype).T
        self._rows = Rows(codes, weights, folded.cardinalities, int(weights.sum()))
        self._gathered: set[int] = set()

    def table(self, x: int, y: int, given: Sequence[int] = ()) -> NDArray[np.int64]:
        for column in {x, y, *given} - self._gathered:
            # "clip" looks up without an intermediate copy; no index is out of range.
            into = self._rows.codes[:, column]
            np.take(self._folded.codes[:, column], self._picked, out=into, mode="clip")
            self._gathered.add(column)
        return self._rows.table(x, y, given)


@kernel()
def _positive(times, count):  # type: ignore[no-untyped-def]
    """Return the positions of the ``count`` positive numbers, and these numbers."""
    where, numbers = np.empty(count + 1, np.int64), np.empty(count + 1, np.int32)
    found = 0
    for i in range(times.size):  # always written, because a branch would be mispredicted
        where[found], numbers[found] = i, times[i]
        found += times[i] > 0
    return where[:count], numbers[:count]


@kernel()
def _pick(rng, row_index, cell, wanted, left):  # type: ignore[no-untyped-def]
    """Sample within every cell (Knuth 3.4.2 S); return how often each folded row is taken.

    Row r is taken with probability wanted / left of its cell; both are counted down in place.
    """
    times = np.zeros(cell.size, np.int32)
    for r in range(row_index.size):
        folded = row_index[r]
        c = cell[folded]
        # Adding it costs less than a branch, which would be mispredicted half of the time.
        taken = rng.random() * left[c] < wanted[c]
        times[folded] += taken
        wanted[c] -= taken
        left[c] -= 1
    return times


# Hypergeometric draws ------------------------------------------------------------------

# numpy samples in the same way (urn for small samples, else Stadlober's 1989 ratio of uniforms
# HRUA), but its calls cost more than most draws here. The compiled code uses the generator's
# uniform numbers, those of ``rng.random``.

# Log-factorials up to here are looked up (8 MB at most); larger ones are computed.
_LOOKED_UP = 1 << 20


@lru_cache(maxsize=4)
@kernel()
def log_factorials(n):  # type: ignore[no-untyped-def]
    """Return ln(k!) for k = 0..n, or up to the limit of the lookup table.

    It uses the same function as beyond the table, so a draw does not depend on the table's size.
    """
    out = np.empty(min(n, _LOOKED_UP) + 1)
    for k in range(out.size):
        out[k] = math.lgamma(k + 1.0)
    return out


@kernel()
def split(parts, drawn, rng, logs):  # type: ignore[no-untyped-def]
    """Draw ``drawn[i]`` of the items of row i without replacement, for every row.

    ``parts`` (rows, kinds) has the number of items of each kind; the result has the number drawn of
    each, in the same shape. The kinds are drawn one after the other, each given the earlier ones.
    ``rng`` is the generator, and ``logs`` are :func:`log_factorials` of the number of all items.
    """
    out = np.zeros(parts.shape, np.int64)
    for i in range(parts.shape[0]):
        left = drawn[i]
        rest = parts[i].sum()
        for kind in range(parts.shape[1]):
            if left == 0:
                break
            rest -= parts[i, kind]
            out[i, kind] = hypergeometric(parts[i, kind], rest, left, rng, logs)
            left -= out[i, kind]
    return out


@kernel()
def hypergeometric(good, bad, sample, rng, logs):  # type: ignore[no-untyped-def]
    """Draw ``sample`` items without replacement and count the good ones."""
    total = good + bad
    if good == 0 or bad == 0 or sample == total:
        return sample if bad == 0 else good if sample == total else 0
    few, many = min(good, bad), max(good, bad)
    size = min(sample, total - sample)
    if size < 10:
        found = _urn(few, total, size, rng)
    else:
        found = _ratio_of_uniforms(few, many, size, rng, logs)
    if good > bad:
        found = size - found
    return found if size == sample else good - found


@kernel()
def _urn(good, total, size, rng):  # type: ignore[no-untyped-def]
    """Draw item by item."""
    left = good
    for i in range(size):
        if rng.random() * (total - i) < left:
            left -= 1
    return good - left


@kernel()
def _ratio_of_uniforms(few, many, size, rng, logs):  # type: ignore[no-untyped-def]
    """Draw by HRUA with its squeezes; ``few`` <= ``many``, ``size`` at most half of their sum."""
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
        u, v = rng.random(), rng.random()
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


@kernel()
def _log_ways(k, few, many, size, logs):  # type: ignore[no-untyped-def]
    """Return minus the log of the probability of k, up to a constant."""
    return (
        _log_factorial(k, logs)
        + _log_factorial(few - k, logs)
        + _log_factorial(size - k, logs)
        + _log_factorial(many - size + k, logs)
    )


@kernel()
def _log_factorial(k, logs):  # type: ignore[no-untyped-def]
    return logs[k] if k < logs.size else math.lgamma(k + 1.0)
