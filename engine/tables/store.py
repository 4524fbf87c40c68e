"""What was counted and computed for a dataset, kept for later draws, budgets and algorithms."""

from __future__ import annotations

import math
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Hashable
from threading import RLock
from typing import Any, TypeVar
from weakref import WeakKeyDictionary, finalize

import numpy as np
from numpy.typing import NDArray

from engine.data.dataset import Dataset
from engine.tables.rows import fold

_JOINT_CELLS = 1 << 9  # 4 kB; larger counts would drive scores out

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
        # To look through all keys for those of one dataset took longer than to count it anew.
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
        """Drop every entry whose key begins with ``first``."""
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
    it is; a store with a ``limit`` of its own keeps apart.
    """

    def __init__(self, data: Dataset, limit: int | None = None):
        self.rows, self._row_index = fold(data)
        self.n, self._weights = data.n, data.weights
        self._spread: NDArray[np.int64] | None = None
        self._kept = _shared if limit is None else Bounded(limit, _size)
        self._mine = object()  # what the keys of this store begin with
        # At the end of the process all goes at once: to clear it entry by entry took seconds.
        finalize(self, self._kept.forget, self._mine).atexit = False

    def keep(self, key: Hashable, make: Callable[[], T]) -> T:
        """A deterministic quantity of the dataset, computed at most once while it is kept."""
        return self._kept.lookup((self._mine, key), make)

    def known(self, key: Hashable) -> Known[Any]:
        """Small values under one key, each under a name of its own; see :meth:`note`."""
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
        if math.prod([self.rows.cardinalities[c] for c in columns]) > _JOINT_CELLS:
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
