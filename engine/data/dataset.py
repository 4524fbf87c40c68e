"""Discrete data: a table of codes and the public schema that it follows.

All other modules use codes: cell (i, j) is the position of row i's value in column j's list of
levels. The order of this list is the ordinal order used by Kendall and Spearman. Levels belong to
the public schema, so a level may be absent from the rows.
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


MAX_FOLDED = 2**31 - 1  # most rows that weights can represent: tables are counted in 32 bits
_SHOWN = 12  # columns printed with their number of levels
OWN = "own-"  # prefix of the identity of private rows
UNDECLARED = (
    "The levels are the codes found in the data, read without noise; for a guarantee declare them "
    "(levels)."
)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Dataset:
    """Rows of discrete values, the schema they follow, and the true graph if known.

    codes   (n, d), the smallest unsigned type for every level, columns contiguous, read-only. With
            weights it is (k, d): the distinct rows of a table that was folded when read.
    weights number of the n rows that each row of codes represents, (k,) int64, read-only; None if
            each represents one row. If the order of rows matters, equal rows follow each other.
    names   d distinct column names.
    levels  for each column, its labels in code order, which is the ordinal order.
    values  (n, d) floats for numeric data, read-only; the codes are their bins. Otherwise None.
    bounds  for each numeric column the declared (lowest, highest) value, a public fact; methods
            that read values clip them to it.
    truth   acyclic graph over exactly the column names (stored as a frozen copy).
    public  true for benchmark data; traces may then show raw statistics.
    schema  the public facts that the user declared for the whole table, if only they decide how a
            record is read; None if any choice was inferred from the data. It has the dataset's
            names and levels. The dataset is ``declared`` only if it has a schema.
    notes   changes made to the data when it was read, one sentence each.
    unforeseen_cells  unmatched values when the data was read, only for the rows' owner;
            ``unforeseen`` shows them in a frame. No result, file or log contains them.

    Raises InputError if these do not fit together.

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
            truth = nx.empty_graph(self.names, nx.DiGraph)  # a copy with nodes in column order
            truth.add_edges_from(self.truth.edges)
            refuse_cycle(truth, "The true graph")
            object.__setattr__(self, "truth", nx.freeze(truth))

    def _faults(self, codes: np.ndarray) -> Iterator[str]:
        """Yield the facts that do not fit; each check relies on the checks before it."""
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
                yield "Values must be finite, and bounds are two numbers, the lower one first."
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
        """Store an array packed and read-only, as a copy unless it already is."""
        packed = np.array(array, kind, order="F", copy=array.flags.writeable or None)
        object.__setattr__(self, name, frozen(packed))

    def __repr__(self) -> str:
        """Return one line that contains no row, because shell output ends up in logs."""
        kind = "public" if self.public else f"private, {'' if self.declared else 'un'}declared"
        return f"<Dataset {self.name!r}: {self.n:,} rows, {self.d} columns, {kind}>"

    def __str__(self) -> str:
        """Return rows, levels per column and the number of unmatched values, for the owner."""
        more = "" if self.d <= _SHOWN else f" and {self.d - _SHOWN} more columns"
        sizes = zip(self.names[:_SHOWN], self.cardinalities, strict=False)
        levels = ", ".join(f"{show(name)} {size}" for name, size in sizes)
        cells = sum(one.cells for one in self.unforeseen_cells)
        return (
            f"{self!r}\nlevels: {levels}{more}\n"
            f"cells that match no level: {cells:,} (data.unforeseen)"
        )

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore from a pickle and make the arrays read-only again."""
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
        """True if a whole schema, without inferred facts, decides how a record is read."""
        return self.schema is not None

    @property
    def d(self) -> int:
        """Number of columns."""
        return len(self.names)

    @property
    def cardinalities(self) -> tuple[int, ...]:
        """The number of levels of each column, including levels that never occur."""
        return tuple(map(len, self.levels))

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the content (codes, names, levels, values, true edges) without the name.

        It includes the schema's background knowledge, because the same rows give another run with
        other knowledge.
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
        """The name of these rows in outputs and caches: the fingerprint if public, else random.

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

        Default names are X0, X1, ...; default levels are "0" up to the largest code of the column.
        Default levels are no declared schema, and a note says so. Given levels are a declared
        schema if a schema can express them (2 columns or more, each with 2 to 64 levels). ``more``
        may set ``name``, ``truth``, ``public``, ``notes`` and ``weights`` of the class.
        """
        array = _whole(codes)
        called = _called(names, array.shape[1])
        if levels is None:
            if not more.get("public"):
                more["notes"] = (*more.get("notes", ()), UNDECLARED)
            levels = [[str(k) for k in range(int(top) + 1)] for top in array.max(axis=0)]
        else:
            with suppress(InputError, IndexError):  # levels that no schema can express
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
        """Build numeric data (copied) from any (n, d) array and the declared bounds of its columns.

        The codes are ``bins`` levels of equal width between the bounds; values outside belong to
        the outermost ones. Names, bounds and bins are a declared schema. If the bounds were read
        from the data, remove it with ``dataclasses.replace(data, schema=None)``. ``more`` is the
        same as in :meth:`from_codes`.
        """
        array = np.asarray(values, dtype=float)
        called = _called(names, len(bounds))
        if array.ndim != 2 or not array.size or not len(called) == len(bounds) == array.shape[1]:
            raise InputError("Values are a table of numbers, with a name and bounds per column.")
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
        """Return the same rows with each column's levels in alphabetical order, as in pandas."""
        levels = tuple(tuple(sorted(labels)) for labels in self.levels)
        if levels == self.levels:
            return self
        codes = np.empty_like(self.codes)
        for j, (old, new) in enumerate(zip(self.levels, levels, strict=True)):
            codes[:, j] = np.array([new.index(label) for label in old])[self.codes[:, j]]
        return replace(self, codes=codes, levels=levels, schema=None)

    @property
    def unforeseen(self) -> pd.DataFrame:
        """The unmatched values as a frame with one line per kind, only for the rows' owner.

        Its columns are column, cells, share (of the column's cells), looks like, counts as.
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

        If a ``schema`` is given that reads one row per person, each row becomes a person with a
        number as id and order, so that the schema reads the same levels.
        """
        import pandas as pd  # imported here, so that importing the engine does not load pandas

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
    """Make an array read-only and return it."""
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
    """Raise DataError that shows the cycle if the graph has one; ``what`` names the graph."""
    if not nx.is_directed_acyclic_graph(graph):
        arcs = nx.find_cycle(graph)
        path = way([show(node) for node in [*(a for a, _ in arcs), arcs[0][0]]], " -> ")
        raise DataError(f"{what} has a cycle ({path}); remove or reverse one of its edges.")


def mixed_radix_keys(codes: NDArray[np.unsignedinteger], sizes: Sequence[int]) -> NDArray[np.int64]:
    """Return one integer per row, equal for equal rows, compressed to prevent overflow."""
    keys, size = np.zeros(codes.shape[0], np.int64), 1
    for column, levels in enumerate(sizes):
        if size > (1 << 62) // max(levels, 1):
            distinct, keys = np.unique(keys, return_inverse=True)
            keys, size = keys.astype(np.int64), len(distinct)
        keys = keys * levels + codes[:, column]
        size *= levels
    return keys
