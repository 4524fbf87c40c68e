"""Discrete data: a table of codes and the public schema it follows.

Everything downstream works on codes: cell (i, j) is the position of row i's value in
column j's list of levels. The list's order is the ordinal order that Kendall and
Spearman use. Levels are public schema, so a level may never occur in the rows.
"""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np

from engine.data.column import HUGE, MAX_LEVELS, Column, interval_labels, repeated
from engine.data.intake import Unforeseen
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
    bounds  per column of numeric data, the stated (lowest, highest) value, a public fact: methods
            that read the values clip them to it.
    truth   acyclic graph over exactly the column names (kept as a frozen copy).
    public  true for benchmark data, of which raw statistics may be shown in traces.
    schema  what a person stated of the whole table as public facts, if every record was read by it
            and by nothing else; None where any choice was found in the data. Its names and levels
            are the dataset's. Only then is the dataset ``declared``.
    notes   what was done to the data on reading, one sentence each.
    unforeseen_cells  what matched no level on reading, for the rows' owner alone; a frame of it is
            ``unforeseen``. It is in no result, file or log.

    Raises InputError where these do not fit together.

    Examples:
        >>> from engine import load_dataset
        >>> data = load_dataset("cancer", n=1_000)
        >>> data
        <Dataset 'cancer': 1,000 rows, 5 columns, public>
        >>> data.names, data.levels[0], data.codes.shape
        (('Pollution', 'Smoker', 'Cancer', 'Xray', 'Dyspnoea'), ('low', 'high'), (1000, 5))
    """

    name: str
    codes: np.ndarray
    names: tuple[str, ...]
    levels: tuple[tuple[str, ...], ...]
    truth: nx.DiGraph | None = None
    public: bool = False
    schema: Schema | None = None
    notes: tuple[str, ...] = ()
    values: np.ndarray | None = None
    bounds: tuple[tuple[float, float], ...] | None = None
    weights: np.ndarray | None = None
    unforeseen_cells: tuple[Unforeseen, ...] = ()

    def __post_init__(self) -> None:
        _check_schema(self.names, self.levels)
        if self.schema and (self.schema.names, self.schema.levels) != (self.names, self.levels):
            raise InputError("The columns and levels are not those of the declared schema.")
        _check_codes(self.codes, self.cardinalities, packed=True)
        _check_values(self.values, self.bounds, self.codes.shape)
        if self.weights is not None and self.values is not None:
            raise InputError("Numeric data have no weights; give each row once.")
        if self.weights is not None:
            _check_weights(self.weights, len(self.codes))
        if self.truth is not None:
            object.__setattr__(self, "truth", _frozen_truth(self.truth, self.names))

    def __repr__(self) -> str:
        """One line that holds no row: what is printed in a shell ends up in logs."""
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
        return int(self.codes.shape[1])

    @property
    def cardinalities(self) -> tuple[int, ...]:
        """Number of levels of each column, those that never occur included."""
        return tuple(map(len, self.levels))

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the content: codes, names, levels, values, true edges (not the name).

        And what the schema states of the causes: a run on the same rows knowing more is another.
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
        """What outputs and caches call these rows: the fingerprint of public ones, else random.

        A digest of private rows would tell whoever knows all of them but one what the last one is.
        """
        return self.fingerprint if self.public else f"{OWN}{uuid.uuid4().hex}"

    @classmethod
    def from_codes(
        cls,
        codes: np.ndarray | Sequence[Sequence[int]],
        names: Sequence[str] | None = None,
        levels: Sequence[Sequence[str]] | None = None,
        *,
        name: str = "data",
        truth: nx.DiGraph | None = None,
        public: bool = False,
        notes: Sequence[str] = (),
        weights: np.ndarray | Sequence[int] | None = None,
    ) -> Dataset:
        """Build a dataset from any (n, d) array of non-negative whole numbers (copied).

        ``weights`` (n,) say how many rows each line stands for, once without them.

        Names default to X0, X1, ...; levels to "0" up to the largest code of the column, which is
        no declared schema: a note says so. Levels that are given are one, where a schema can say
        them (2 columns or more, of 2 to 64 levels).
        """
        array = np.asarray(codes)
        if array.ndim != 2 or array.size == 0 or array.dtype.kind not in "iu" or array.min() < 0:
            raise InputError("Codes must be a table of whole numbers, 0 or more, not empty.")
        if names is None:
            names = [f"X{j}" for j in range(array.shape[1])]
        stated = None if levels is None else _schema_of(_ordered(names, levels))
        if levels is None:
            notes = (*notes, *(() if public else (UNDECLARED,)))
            levels = [[str(k) for k in range(int(top) + 1)] for top in array.max(axis=0)]
        sizes = list(map(len, levels))
        _check_codes(array, sizes, packed=False)
        counts = None if weights is None else np.array(weights)
        if counts is not None and counts.dtype.kind in "iu":
            counts = counts.astype(np.int64)
        return cls(
            name=name,
            codes=frozen(np.array(array, dtype=code_type(sizes), order="F")),
            names=tuple(names),
            levels=tuple(map(tuple, levels)),
            truth=truth,
            public=public,
            schema=stated,
            notes=tuple(notes),
            weights=None if counts is None else frozen(counts),
        )

    @classmethod
    def from_values(
        cls,
        values: np.ndarray | Sequence[Sequence[float]],
        bounds: Sequence[tuple[float, float]],
        names: Sequence[str] | None = None,
        *,
        bins: int = 5,
        name: str = "data",
        truth: nx.DiGraph | None = None,
        public: bool = False,
        notes: Sequence[str] = (),
    ) -> Dataset:
        """Build numeric data (copied) from any (n, d) array and stated bounds of its columns.

        The codes are ``bins`` levels of equal width between the bounds; values outside belong to
        the outermost ones. Names, bounds and bins are a declared schema; bounds that were read from
        the data are none, and ``dataclasses.replace(data, schema=None)`` says so.
        """
        array = frozen(np.array(values, dtype=float, order="F"))
        if array.ndim != 2 or array.size == 0:
            raise InputError("Values must be a table of numbers, not empty.")
        stated = tuple((float(low), float(high)) for low, high in bounds)
        _check_values(array, stated, array.shape)
        if isinstance(bins, bool) or not 2 <= bins <= MAX_LEVELS:
            raise InputError(f"bins must be from 2 to {MAX_LEVELS}.")
        cuts = [np.linspace(low, high, bins + 1)[1:-1] for low, high in stated]
        codes = np.empty(array.shape, code_type([bins]), order="F")
        for j, inner in enumerate(cuts):
            codes[:, j] = np.searchsorted(inner, array[:, j], side="right")
        called = tuple(names) if names is not None else tuple(f"X{j}" for j in range(len(cuts)))
        return cls(
            name=name,
            codes=frozen(codes),
            names=called,
            levels=tuple(interval_labels(inner) for inner in cuts),
            truth=truth,
            public=public,
            schema=_schema_of(
                Column(name=name, type="numeric", bounds=pair, bins=bins, other=pair[0])
                for name, pair in zip(called, stated, strict=False)
            ),
            notes=tuple(notes),
            values=array,
            bounds=stated,
        )

    @property
    def unforeseen(self) -> pd.DataFrame:
        """The cells that match no level, for the rows' owner alone: a frame of a line a kind.

        Its columns: column, cells, share (of the column's cells), looks like, counts as.
        """
        import pandas as pd

        rows = [
            (u.column, u.cells, u.cells / u.of, "(empty)" if u.empty else ", ".join(u.looks), u.to)
            for u in self.unforeseen_cells
        ]
        return pd.DataFrame(rows, columns=["column", "cells", "share", "looks like", "counts as"])

    def row_codes(self, first: int | None = None) -> np.ndarray:
        """Codes of all rows, or of the first ones, one line a row: what weights spare elsewhere."""
        if self.weights is None:
            return self.codes[:first]
        rows = np.arange(self.n if first is None else min(first, self.n))
        return self.codes[np.searchsorted(np.cumsum(self.weights), rows, side="right")]

    def to_frame(self) -> pd.DataFrame:
        """Return the labels as a pandas DataFrame of ordered categorical columns."""
        import pandas as pd  # here, so that importing the engine does not load pandas

        rows = self.row_codes().T
        columns = {
            name: pd.Categorical.from_codes(column, pd.Index(labels), ordered=True)
            for name, labels, column in zip(self.names, self.levels, rows, strict=True)
        }
        return pd.DataFrame(columns)


def code_type(cardinalities: Iterable[int]) -> np.dtype[Any]:
    """Return the smallest unsigned type that holds the codes of every column."""
    return np.min_scalar_type(max(cardinalities, default=1) - 1)


def frozen(array: np.ndarray) -> np.ndarray:
    """The same array, which can be changed no more."""
    array.flags.writeable = False
    return array


def _ordered(names: Sequence[str], levels: Sequence[Sequence[str]]) -> Iterator[Column]:
    for name, labels in zip(names, levels, strict=False):
        yield Column(name=name, type="ordered", levels=tuple(labels), other=labels[0])


def _schema_of(columns: Iterable[Column]) -> Schema | None:
    """What an array's stated columns declare; None where no schema can say it."""
    try:
        return Schema(tuple(columns))
    except (InputError, IndexError):
        return None


def _check_schema(names: tuple[str, ...], levels: tuple[tuple[str, ...], ...]) -> None:
    if len(names) != len(levels):
        raise InputError(f"{len(names)} names but {len(levels)} lists of levels; give one each.")
    if any(not isinstance(name, str) or not name.strip() for name in names):
        raise InputError("Every column needs a name that is text and not blank.")
    if len(set(names)) < len(names):
        raise InputError(f"Column names must differ; {repeated(names)!r} appears twice.")
    for name, labels in zip(names, levels, strict=True):
        if not labels or len(set(labels)) < len(labels):
            raise InputError(f"Column {name!r} needs at least one level, and no level twice.")


def _check_codes(codes: np.ndarray, cardinalities: Sequence[int], packed: bool) -> None:
    """Check what the counting kernels rely on: shape, range and, of what is packed, the rest."""
    if codes.ndim != 2 or codes.shape[1] != len(cardinalities) or codes.size == 0:
        raise InputError(f"Codes must be a table with rows and {len(cardinalities)} columns.")
    for j, size in enumerate(cardinalities):
        if codes[:, j].max() >= size:
            raise InputError(f"Column {j} holds a code that is not below its {size} levels.")
    right = codes.dtype == code_type(cardinalities) and codes.flags.f_contiguous
    if packed and (not right or codes.flags.writeable):
        raise InputError("Codes must be packed as documented; use Dataset.from_codes instead.")


def _check_values(
    values: np.ndarray | None,
    bounds: tuple[tuple[float, float], ...] | None,
    shape: tuple[int, ...],
) -> None:
    if values is None and bounds is None:
        return
    if values is None or bounds is None or values.shape != shape or len(bounds) != shape[1]:
        raise InputError("Numeric data need a value for every cell and bounds for every column.")
    if values.dtype != np.float64 or values.flags.writeable or not np.isfinite(values).all():
        raise InputError("Values must be finite, packed numbers; use Dataset.from_values instead.")
    if not all(-HUGE < low < high < HUGE for low, high in bounds):
        raise InputError("Every column needs two finite bounds, the lower one first.")


def _check_weights(weights: np.ndarray, rows: int) -> None:
    right = weights.dtype == np.int64 and not weights.flags.writeable
    if not right or weights.shape != (rows,) or weights.min() < 1:
        raise InputError("Weights are packed whole numbers of at least 1, one a row of codes.")
    if weights.sum() > MAX_FOLDED:
        raise InputError(f"A folded table has at most {MAX_FOLDED:,} rows.")


def _frozen_truth(graph: nx.DiGraph, names: tuple[str, ...]) -> nx.DiGraph:
    """Return a read-only copy of the true graph, its nodes in column order."""
    if set(graph.nodes) != set(names):
        raise InputError("The true graph must have exactly the column names as its nodes.")
    truth = nx.DiGraph()
    truth.add_nodes_from(names)
    truth.add_edges_from(graph.edges)
    refuse_cycle(truth, "The true graph")
    return nx.freeze(truth)


def refuse_cycle(graph: nx.DiGraph, what: str) -> None:
    """Raise DataError, with the cycle, where the graph has one; ``what`` names the graph."""
    if not nx.is_directed_acyclic_graph(graph):
        arcs = nx.find_cycle(graph)
        path = way([show(node) for node in [*(a for a, _ in arcs), arcs[0][0]]], " -> ")
        raise DataError(f"{what} has a cycle ({path}); remove or turn one of its edges.")
