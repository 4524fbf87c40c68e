"""Discrete data: a table of codes and the public schema it follows.

Everything downstream works on codes: cell (i, j) is the position of row i's value in
column j's list of levels. The list's order is the ordinal order that Kendall and
Spearman use. Levels are public schema, so a level may never occur in the rows.
"""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from engine.data.column import HUGE, Column, Unforeseen
from engine.data.schema import Schema
from engine.errors import DataError, InputError, show, way

if TYPE_CHECKING:
    import pandas as pd


MAX_FOLDED = 2**31 - 1  # rows that weights stand for: tables are counted in 32 bits
_SHOWN = 12  # columns that are printed with their number of levels
OWN = "own-"  # how the identity of private rows begins
UNDECLARED = (
    "The levels are the codes found in the data, read without noise; for a guarantee declare them "
    "(levels)."
)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Dataset:
    """Rows of discrete values, the schema they follow, and the true graph if known.

    codes   (n, d), smallest unsigned type that holds every level, columns contiguous,
            read-only. With weights (k, d): distinct rows of a table that was folded on reading.
    weights how many of the n rows each row of codes stands for, (k,) int64, read-only; None where
            each stands for itself. Where an order of rows matters, equal ones follow each other.
    names   d distinct column names.
    levels  per column, its labels in code order, which is the ordinal order.
    values  (n, d) floats of numeric data, read-only, of which the codes are the bins; else None.
    bounds  per column of numeric data, the declared (lowest, highest) value, a public fact: methods
            that read the values clip them to it.
    truth   acyclic graph over exactly the column names (kept as a frozen copy).
    public  true for benchmark data, of which raw statistics may be shown in traces.
    schema  the public facts that the user declared for the whole table, if every record was read by
            it alone; None where any choice was found in the data. Its names and levels are the
            dataset's. Only then is the dataset ``declared``.
    notes   changes to the data on reading, one sentence each.
    unforeseen_cells  cells that matched no level on reading, for the rows' owner alone; a frame of
        them is ``unforeseen``. They are in no result, file or log.

    Raises InputError where these do not fit together.

    Examples:
        >>> from engine import load_dataset
        >>> data = load_dataset("cancer", n=1_000)
        >>> data
        <Dataset 'cancer': 1,000 rows, 5 columns, public>
        >>> data.names, data.levels[0], data.codes.shape
        (('Pollution', 'Smoker', 'Cancer', 'Xray', 'Dyspnoea'), ('low', 'high'), (1000, 5))
    """

    codes: np.ndarray
    names: tuple[str, ...]
    levels: tuple[tuple[str, ...], ...]
    name: str = "data"
    truth: nx.DiGraph | None = None
    public: bool = False
    schema: Schema | None = None
    notes: tuple[str, ...] = ()
    values: np.ndarray | None = None
    bounds: tuple[tuple[float, float], ...] | None = None
    weights: np.ndarray | None = None
    unforeseen_cells: tuple[Unforeseen, ...] = ()

    def __post_init__(self) -> None:
        codes = _whole(self.codes)
        for fault in self._faults(codes):
            raise InputError(fault)
        self._set("codes", codes, np.min_scalar_type(max(self.cardinalities) - 1))
        for what, kind in (("values", np.float64), ("weights", np.int64)):
            if getattr(self, what) is not None:
                self._set(what, np.asarray(getattr(self, what)), kind)
        if self.truth is not None:
            truth = nx.empty_graph(self.names, nx.DiGraph)  # a copy, its nodes in column order
            truth.add_edges_from(self.truth.edges)
            refuse_cycle(truth, "The true graph")
            object.__setattr__(self, "truth", nx.freeze(truth))

    def _faults(self, codes: np.ndarray) -> Iterator[str]:
        """Yield the facts that do not fit; each is examined once those before it are right."""
        names, levels, schema = self.names, self.levels, self.schema
        texts = all(isinstance(name, str) and name.strip() for name in names)
        if not texts or len(set(names)) < len(names) or len(names) != len(levels):
            yield "Names are different texts that are not blank, one per column, each with levels."
        if not all(labels and len(set(labels)) == len(labels) for labels in levels):
            yield "Every column needs at least one level, and no level twice."
        if schema is not None and (schema.names, schema.levels) != (names, levels):
            yield "The columns and levels are not those of the declared schema."
        if codes.shape[1] != self.d or (codes.max(axis=0) >= self.cardinalities).any():
            yield "Codes have one column per name and are below its number of levels."
        if self.values is not None or self.bounds is not None:
            values, bounds = np.asarray(self.values), self.bounds or ()
            if values.shape != codes.shape or len(bounds) != self.d:
                yield "Numeric data need a value for every cell and bounds for every column."
            if not np.isfinite(values).all() or not all(-HUGE < a < b < HUGE for a, b in bounds):
                yield "Values are finite, and bounds two of them, the lower one first."
        if self.weights is not None:
            held = np.asarray(self.weights)
            whole = held.dtype.kind in "iu" and held.shape == codes.shape[:1] and held.min() > 0
            if self.values is not None or not whole or held.sum() > MAX_FOLDED:
                yield (
                    "Weights are whole numbers of at least 1, one per row of codes, at most "
                    f"{MAX_FOLDED:,} together; numeric data have none."
                )
        if self.truth is not None and set(self.truth.nodes) != set(names):
            yield "The true graph must have exactly the column names as its nodes."

    def _set(self, name: str, array: np.ndarray, kind: Any) -> None:
        """Keep an array packed and read-only: a copy, unless it is both."""
        packed = np.array(array, kind, order="F", copy=array.flags.writeable or None)
        object.__setattr__(self, name, frozen(packed))

    def __repr__(self) -> str:
        """Return one line that holds no row: the output of a shell ends up in logs."""
        kind = "public" if self.public else f"private, {'' if self.declared else 'un'}declared"
        return f"<Dataset {self.name!r}: {self.n:,} rows, {self.d} columns, {kind}>"

    def __str__(self) -> str:
        """Rows, levels of the columns, and how many cells match no level: for the rows' owner."""
        more = "" if self.d <= _SHOWN else f" and {self.d - _SHOWN} more columns"
        sizes = zip(self.names[:_SHOWN], self.cardinalities, strict=False)
        levels = ", ".join(f"{show(name)} {size}" for name, size in sizes)
        cells = sum(one.cells for one in self.unforeseen_cells)
        return (
            f"{self!r}\nlevels: {levels}{more}\n"
            f"cells that match no level: {cells:,} (data.unforeseen)"
        )

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore from a pickle, which forgets that the codes are read-only."""
        self.__dict__.update(state)
        for array in (self.codes, self.values, self.weights):
            if array is not None:
                frozen(array)

    @cached_property
    def n(self) -> int:
        """Number of rows."""
        return int(self.codes.shape[0] if self.weights is None else self.weights.sum())

    @property
    def declared(self) -> bool:
        """Whether a whole schema, and nothing found in the rows, says how a record is read."""
        return self.schema is not None

    @property
    def d(self) -> int:
        """Number of columns."""
        return len(self.names)

    @property
    def cardinalities(self) -> tuple[int, ...]:
        """Number of levels of each column, those that never occur included."""
        return tuple(map(len, self.levels))

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the content: codes, names, levels, values, true edges (not the name).

        It includes the schema's background knowledge: with other knowledge the same rows give
        another run.
        """
        edges = None if self.truth is None else sorted(map(list, self.truth.edges))
        header = [list(self.codes.shape), self.names, self.levels, edges]
        digest = hashlib.sha256(json.dumps(header).encode())
        for column in self.codes.T:
            digest.update(column.astype("<u4").tobytes())
        if self.values is not None:
            digest.update(json.dumps(self.bounds).encode())
            for column in self.values.T:
                digest.update(column.astype("<f8").tobytes())
        if self.weights is not None:
            digest.update(self.weights.astype("<i8").tobytes())
        if self.schema is not None and self.schema.knowledge:
            known = self.schema.knowledge.to_json()
            digest.update(json.dumps(known, sort_keys=True).encode())
        return digest.hexdigest()

    @cached_property
    def identity(self) -> str:
        """Return these rows' name in outputs and caches: public ones' fingerprint, else random.

        A digest of private rows would reveal the last row to an attacker who knows all others.
        """
        return self.fingerprint if self.public else f"{OWN}{uuid.uuid4().hex}"

    @classmethod
    def from_codes(
        cls,
        codes: np.ndarray | Sequence[Sequence[int]],
        names: Sequence[str] | None = None,
        levels: Sequence[Sequence[str]] | None = None,
        **more: Any,
    ) -> Dataset:
        """Build a dataset from any (n, d) array of non-negative whole numbers (copied).

        Names default to X0, X1, ...; levels to "0" up to the largest code of the column, which is
        no declared schema: a note says so. Levels that are given are one, where a schema can say
        them (2 columns or more, of 2 to 64 levels). ``more``: ``name``, ``truth``, ``public``,
        ``notes`` and ``weights``, as the class has them.
        """
        array = _whole(codes)
        called = _called(names, array.shape[1])
        if levels is None:
            if not more.get("public"):
                more["notes"] = (*more.get("notes", ()), UNDECLARED)
            levels = [[str(k) for k in range(int(top) + 1)] for top in array.max(axis=0)]
        else:
            with suppress(InputError, IndexError):  # levels that no schema can say
                pairs = zip(called, map(tuple, levels), strict=False)
                facts: Any = ({"name": n, "levels": own, "other": own[0]} for n, own in pairs)
                more["schema"] = Schema(tuple(Column(type="ordered", **one) for one in facts))
        return cls(codes=array, names=called, levels=tuple(map(tuple, levels)), **more)

    @classmethod
    def from_values(
        cls,
        values: np.ndarray | Sequence[Sequence[float]],
        bounds: Sequence[tuple[float, float]],
        names: Sequence[str] | None = None,
        *,
        bins: int = 5,
        **more: Any,
    ) -> Dataset:
        """Build numeric data (copied) from any (n, d) array and stated bounds of its columns.

        The codes are ``bins`` levels of equal width between the bounds; values outside belong to
        the outermost ones. Names, bounds and bins are a declared schema; bounds that were read from
        the data are none, and ``dataclasses.replace(data, schema=None)`` says so. ``more`` as for
        :meth:`from_codes`.
        """
        array = np.asarray(values, dtype=float)
        called = _called(names, len(bounds))
        if array.ndim != 2 or not array.size or not len(called) == len(bounds) == array.shape[1]:
            raise InputError("Values are a table of numbers, with a name and bounds a column.")
        stated = tuple((float(low), float(high)) for low, high in bounds)
        columns = [
            Column(name=name, type="numeric", bounds=pair, bins=bins, other=pair[0])
            for name, pair in zip(called, stated, strict=True)
        ]
        binned = [
            np.searchsorted(column.points(), held, side="right")
            for column, held in zip(columns, array.T, strict=True)
        ]
        return cls(
            codes=frozen(np.array(binned, np.uint8).T),
            names=called,
            levels=tuple(column.labels for column in columns),
            schema=Schema(tuple(columns)) if len(columns) > 1 else None,
            values=array,
            bounds=stated,
            **more,
        )

    @cached_property
    def alphabetical(self) -> Dataset:
        """The same rows with each column's levels in alphabetical order, as pandas' categories."""
        levels = tuple(tuple(sorted(labels)) for labels in self.levels)
        if levels == self.levels:
            return self
        codes = np.empty_like(self.codes)
        for j, (old, new) in enumerate(zip(self.levels, levels, strict=True)):
            codes[:, j] = np.array([new.index(label) for label in old])[self.codes[:, j]]
        return replace(self, codes=codes, levels=levels, schema=None)

    @property
    def unforeseen(self) -> pd.DataFrame:
        """The cells that match no level, for the rows' owner alone: a frame of one line per kind.

        Its columns: column, cells, share (of the column's cells), looks like, counts as.
        """
        import pandas as pd

        rows = [(u.column, u.cells, u.cells / u.of, u.look, u.to) for u in self.unforeseen_cells]
        return pd.DataFrame(rows, columns=["column", "cells", "share", "looks like", "counts as"])

    def row_codes(self, first: int | None = None) -> np.ndarray:
        """Return the codes of all rows, or of the first ones, one line per row, without weights."""
        if self.weights is None:
            return self.codes[:first]
        rows = np.arange(self.n if first is None else min(first, self.n))
        return self.codes[np.searchsorted(np.cumsum(self.weights), rows, side="right")]

    def to_frame(self, schema: Schema | None = None) -> pd.DataFrame:
        """Return the labels as a pandas DataFrame of ordered categorical columns.

        With a ``schema`` that reads one row a person every row is a person's: it has a number in
        the place of the person's id and order, and the schema reads the same levels.
        """
        import pandas as pd  # here, so that importing the engine does not load pandas

        rows = self.row_codes().T
        columns = {
            name: pd.Categorical.from_codes(column, pd.Index(labels), ordered=True)
            for name, labels, column in zip(self.names, self.levels, rows, strict=True)
        }
        frame = pd.DataFrame(columns)
        person = schema and schema.person
        for name in (person.order, person.id) if person else ():
            if name is not None and name not in frame:
                frame.insert(0, name, np.arange(1, self.n + 1))
        return frame


def frozen(array: np.ndarray) -> np.ndarray:
    """Return the same array, read-only from here on."""
    array.flags.writeable = False
    return array


def _called(names: Sequence[str] | None, d: int) -> tuple[str, ...]:
    return tuple(f"X{j}" for j in range(d)) if names is None else tuple(names)


def _whole(codes: Any) -> np.ndarray:
    array = np.asarray(codes)
    if array.ndim != 2 or array.size == 0 or array.dtype.kind not in "iu" or array.min() < 0:
        raise InputError("Codes must be a table of whole numbers, 0 or more, not empty.")
    return array


def refuse_cycle(graph: nx.DiGraph, what: str) -> None:
    """Raise DataError, with the cycle, where the graph has one; ``what`` names the graph."""
    if not nx.is_directed_acyclic_graph(graph):
        arcs = nx.find_cycle(graph)
        path = way([show(node) for node in [*(a for a, _ in arcs), arcs[0][0]]], " -> ")
        raise DataError(f"{what} has a cycle ({path}); remove or turn one of its edges.")


def mixed_radix_keys(codes: NDArray[np.unsignedinteger], sizes: Sequence[int]) -> NDArray[np.int64]:
    """One integer a row that is equal for equal rows; compressed where it would overflow."""
    keys, size = np.zeros(codes.shape[0], np.int64), 1
    for column, levels in enumerate(sizes):
        if size > (1 << 62) // max(levels, 1):
            distinct, keys = np.unique(keys, return_inverse=True)
            keys, size = keys.astype(np.int64), len(distinct)
        keys = keys * levels + codes[:, column]
        size *= levels
    return keys
