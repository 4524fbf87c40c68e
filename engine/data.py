"""Discrete data: a table of codes, the public schema it follows, and CSV reading.

Everything downstream works on codes: cell (i, j) is the position of row i's value in
column j's list of levels. The list's order is the ordinal order that Kendall and
Spearman use. Levels are public schema, so a level may never occur in the rows.
"""

import csv
import hashlib
import io
import json
import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, pairwise
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal

import networkx as nx
import numpy as np

from engine.errors import DataError, InputError, did_you_mean

if TYPE_CHECKING:
    import pandas as pd

Source = str | os.PathLike[str] | bytes | IO[str] | IO[bytes]

MAX_BYTES = 200_000_000
MAX_ROWS = 10_000_000
MAX_COLUMNS = 1_000
MAX_LEVELS = 64
MISSING = frozenset({"", "?", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "None"})
SEPARATORS = (",", ";", "\t")
EDGE_HEADERS = frozenset({("from", "to"), ("source", "target"), ("parent", "child")})

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_HUGE = 1e300  # beyond it, differences of two values overflow
_BATCH = 50_000


@dataclass(frozen=True, eq=False, kw_only=True)
class Dataset:
    """Rows of discrete values, the schema they follow, and the true graph if known.

    codes   (n, d), smallest unsigned type that holds every level, columns contiguous,
            read-only.
    names   d distinct column names.
    levels  per column, its labels in code order, which is the ordinal order.
    values  (n, d) floats of numeric data, read-only, whose binning the codes are; else None.
    bounds  per column of numeric data, the stated (lowest, highest) value, a public fact: methods
            that read the values clip them to it.
    truth   acyclic graph over exactly the column names (kept as a frozen copy).
    public  true for benchmark data, whose raw statistics may be shown in traces.
    notes   what was done to the data on reading, one sentence each.

    Raises InputError where these do not fit together.
    """

    name: str
    codes: np.ndarray
    names: tuple[str, ...]
    levels: tuple[tuple[str, ...], ...]
    truth: nx.DiGraph | None = None
    public: bool = False
    notes: tuple[str, ...] = ()
    values: np.ndarray | None = None
    bounds: tuple[tuple[float, float], ...] | None = None

    def __post_init__(self) -> None:
        _check_schema(self.names, self.levels)
        _check_codes(self.codes, self.cardinalities)
        _check_values(self.values, self.bounds, self.codes.shape)
        if self.truth is not None:
            object.__setattr__(self, "truth", _frozen_truth(self.truth, self.names))

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore from a pickle, which forgets that the codes are read-only."""
        self.__dict__.update(state)
        self.codes.flags.writeable = False
        if self.values is not None:
            self.values.flags.writeable = False

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.codes.shape[0])

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
        """SHA-256 of the content: codes, names, levels, values, true edges (not the name)."""
        edges = None if self.truth is None else sorted(map(list, self.truth.edges))
        header = [list(self.codes.shape), self.names, self.levels, edges]
        digest = hashlib.sha256(json.dumps(header).encode())
        for column in self.codes.T:
            digest.update(column.astype("<u4").tobytes())
        if self.values is not None:
            digest.update(json.dumps(self.bounds).encode())
            for column in self.values.T:
                digest.update(column.astype("<f8").tobytes())
        return digest.hexdigest()

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
    ) -> "Dataset":
        """Build a dataset from any (n, d) array of non-negative whole numbers (copied).

        Names default to X0, X1, ...; levels to "0" up to the largest code of the column.
        """
        array = np.asarray(codes)
        if array.ndim != 2 or array.size == 0 or array.dtype.kind not in "iu" or array.min() < 0:
            raise InputError("Codes must be a table of whole numbers, 0 or more, not empty.")
        if names is None:
            names = [f"X{j}" for j in range(array.shape[1])]
        if levels is None:
            levels = [[str(k) for k in range(int(top) + 1)] for top in array.max(axis=0)]
        _check_range(array, [len(column) for column in levels])
        packed = np.array(array, dtype=code_type(map(len, levels)), order="F")
        packed.flags.writeable = False
        return cls(
            name=name,
            codes=packed,
            names=tuple(names),
            levels=tuple(map(tuple, levels)),
            truth=truth,
            public=public,
            notes=tuple(notes),
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
    ) -> "Dataset":
        """Build numeric data (copied) from any (n, d) array and stated bounds of its columns.

        The codes are ``bins`` levels of equal width between the bounds; values outside belong to
        the outermost ones.
        """
        array = np.array(values, dtype=float, order="F")
        if array.ndim != 2 or array.size == 0:
            raise InputError("Values must be a table of numbers, not empty.")
        stated = tuple((float(low), float(high)) for low, high in bounds)
        array.flags.writeable = False
        _check_values(array, stated, array.shape)
        if isinstance(bins, bool) or not 2 <= bins <= MAX_LEVELS:
            raise InputError(f"bins must be from 2 to {MAX_LEVELS}.")
        cuts = [np.linspace(low, high, bins + 1)[1:-1] for low, high in stated]
        codes = np.empty(array.shape, code_type([bins]), order="F")
        for j, inner in enumerate(cuts):
            codes[:, j] = np.searchsorted(inner, array[:, j], side="right")
        codes.flags.writeable = False
        return cls(
            name=name,
            codes=codes,
            names=tuple(names) if names is not None else tuple(f"X{j}" for j in range(len(cuts))),
            levels=tuple(_interval_labels(inner) for inner in cuts),
            truth=truth,
            public=public,
            notes=tuple(notes),
            values=array,
            bounds=stated,
        )

    def to_frame(self) -> "pd.DataFrame":
        """Return the labels as a pandas DataFrame of ordered categorical columns."""
        import pandas as pd  # here, so that importing the engine does not load pandas

        columns = {
            name: pd.Categorical.from_codes(column, pd.Index(labels), ordered=True)
            for name, labels, column in zip(self.names, self.levels, self.codes.T, strict=True)
        }
        return pd.DataFrame(columns)


def code_type(cardinalities: Iterable[int]) -> np.dtype[Any]:
    """Return the smallest unsigned type that holds the codes of every column."""
    return np.min_scalar_type(max(cardinalities, default=1) - 1)


def _check_schema(names: tuple[str, ...], levels: tuple[tuple[str, ...], ...]) -> None:
    if len(names) != len(levels):
        raise InputError(f"{len(names)} names but {len(levels)} lists of levels; give one each.")
    if any(not isinstance(name, str) or not name.strip() for name in names):
        raise InputError("Every column needs a name that is text and not blank.")
    if len(set(names)) < len(names):
        raise InputError(f"Column names must differ; {_repeated(names)!r} appears twice.")
    for name, labels in zip(names, levels, strict=True):
        if not labels or len(set(labels)) < len(labels):
            raise InputError(f"Column {name!r} needs at least one level, and no level twice.")


def _check_codes(codes: np.ndarray, cardinalities: tuple[int, ...]) -> None:
    """Check what the counting kernels rely on: shape, type, order, range."""
    _check_range(codes, cardinalities)
    right_type = codes.dtype == code_type(cardinalities)
    if not right_type or not codes.flags.f_contiguous or codes.flags.writeable:
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
    for low, high in bounds:
        if not -_HUGE < low < high < _HUGE:
            raise InputError("Every column needs two finite bounds, the lower one first.")


def _check_range(codes: np.ndarray, cardinalities: Sequence[int]) -> None:
    if codes.ndim != 2 or codes.shape[1] != len(cardinalities) or codes.size == 0:
        raise InputError(f"Codes must be a table with rows and {len(cardinalities)} columns.")
    for j, size in enumerate(cardinalities):
        if codes[:, j].max() >= size:
            raise InputError(f"Column {j} holds a code that is not below its {size} levels.")


def _frozen_truth(graph: nx.DiGraph, names: tuple[str, ...]) -> nx.DiGraph:
    """Return a read-only copy of the true graph, its nodes in column order."""
    if set(graph.nodes) != set(names):
        raise InputError("The true graph must have exactly the column names as its nodes.")
    truth = nx.DiGraph()
    truth.add_nodes_from(names)
    truth.add_edges_from(graph.edges)
    _refuse_cycle(truth, "The true graph")
    return nx.freeze(truth)


def _refuse_cycle(graph: nx.DiGraph, what: str) -> None:
    if not nx.is_directed_acyclic_graph(graph):
        arcs = nx.find_cycle(graph)
        path = " -> ".join(_show(node) for node in [*(a for a, _ in arcs), arcs[0][0]])
        raise DataError(f"{what} has a cycle ({path}); remove or turn one of its edges.")


# Reading CSV files ------------------------------------------------------------------


@dataclass(frozen=True)
class Reading:
    """How columns become levels; see `read_csv`, whose arguments these are."""

    levels: Mapping[str, Sequence[str]]
    edges: Mapping[str, Sequence[float]]
    bins: int
    binning: Literal["quantile", "width"]
    max_levels: int

    def __post_init__(self) -> None:
        for what, value in (("bins", self.bins), ("max_levels", self.max_levels)):
            if isinstance(value, bool) or not isinstance(value, int | np.integer):
                raise InputError(f"{what} must be a whole number.")
            if not 2 <= value <= MAX_LEVELS:
                raise InputError(f"{what} must be from 2 to {MAX_LEVELS}.")
        if self.binning not in ("quantile", "width"):
            raise InputError("binning must be 'quantile' or 'width'.")

    def check_columns(self, names: Sequence[str]) -> None:
        """Refuse a rule for a column that is not there, or two rules for one column."""
        for what, rules in (("levels", self.levels), ("edges", self.edges)):
            for name in rules:
                if name not in names:
                    hint = did_you_mean(name, names)
                    raise InputError(f"{what} names the column {name!r}, not in the data.{hint}")
        for name in self.levels.keys() & self.edges.keys():
            raise InputError(f"Column {name!r} has both levels and edges; give only one of them.")


@dataclass(frozen=True)
class _RawColumn:
    """A column of text: distinct stripped cells, and per row the index into them."""

    name: str
    values: list[str]
    index: np.ndarray

    def counts(self) -> np.ndarray:
        return np.bincount(self.index, minlength=len(self.values))


@dataclass(frozen=True)
class _CodedColumn:
    codes: np.ndarray
    levels: tuple[str, ...]
    note: str | None = None
    levels_from_data: bool = False


def read_csv(
    source: Source,
    *,
    truth: Source | None = None,
    name: str | None = None,
    levels: Mapping[str, Sequence[str]] | None = None,
    edges: Mapping[str, Sequence[float]] | None = None,
    bins: int = 5,
    binning: Literal["quantile", "width"] = "quantile",
    max_levels: int = 10,
) -> Dataset:
    """Read a table with a header line (UTF-8; comma, semicolon or tab) as discrete data.

    source      a path, bytes, or an open file; `truth` likewise, an edge list with one
                edge a line, `from,to` or `from -> to`, with or without a header line.
    levels      declared levels of a column in their order; cells must be among them.
    edges       declared cut points of a numeric column: k of them make k + 1 levels,
                a value on a cut point belonging to the level above it.
    bins, binning, max_levels
                a numeric column with more than `max_levels` distinct values becomes
                `bins` levels, cut at its quantiles or in equal widths.

    Other columns keep their values as levels: in numeric order where all are numbers,
    else in natural order (upper and lower case alike, runs of digits by their value).
    Empty cells, NA, N/A, NaN, ?, null and None count as missing, unless declared in
    `levels`. What was read from the data without noise is said in the notes.

    Raises DataError (a bad file) or InputError (a bad argument), one sentence each.
    """
    reading = Reading(levels or {}, edges or {}, bins, binning, max_levels)
    text, label = _read_text(source)
    columns = _parse_table(text, label)
    names = tuple(column.name for column in columns)
    reading.check_columns(names)
    _refuse_missing([column for column in columns if column.name not in reading.levels])
    coded = [_code_column(column, reading) for column in columns]
    coded_levels = [column.levels for column in coded]
    # One column at a time, so that the wide index type never exists for the whole table.
    codes = np.empty((len(coded[0].codes), len(coded)), code_type(map(len, coded_levels)), "F")
    for j, column in enumerate(coded):
        codes[:, j] = column.codes
    codes.flags.writeable = False
    return Dataset(
        name=name or Path(label).stem,
        codes=codes,
        names=names,
        levels=tuple(coded_levels),
        truth=None if truth is None else read_edges(truth, names),
        notes=_notes(names, coded),
    )


def _notes(names: tuple[str, ...], coded: list[_CodedColumn]) -> tuple[str, ...]:
    notes = [column.note for column in coded if column.note]
    found = [name for name, column in zip(names, coded, strict=True) if column.levels_from_data]
    if found:
        listed = ", ".join(found[:5]) + (f" and {len(found) - 5} more" if found[5:] else "")
        notes.append(
            f"The levels of {listed} are the values found in the data, read without noise; for a "
            "strict guarantee declare them as public facts (levels)."
        )
    return tuple(notes)


def _read_text(source: Source) -> tuple[str, str]:
    """Return the source's text and a label for it, the file's name where it has one."""
    raw, label = _read_raw(source)
    if len(raw) > MAX_BYTES:
        limit = f"{MAX_BYTES // 1_000_000} MB"
        raise DataError(f"{label} is larger than {limit}; give fewer rows or columns.")
    try:
        text = raw if isinstance(raw, str) else bytes(raw).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DataError(f"{label} is not UTF-8 text; save it as CSV in UTF-8.") from None
    if "\0" in text:
        raise DataError(f"{label} is not a text file; save the table as CSV in UTF-8.")
    text = text.removeprefix("\ufeff")
    if not text.strip():
        raise DataError(f"{label} is empty; give a file with a header line and rows.")
    return text, label


def _read_raw(source: Source) -> tuple[str | bytes, str]:
    if isinstance(source, bytes | bytearray):
        return bytes(source), "data"
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        try:
            # Read one byte past the limit at most: enough to know that it is exceeded.
            with path.open("rb") as file:
                return file.read(MAX_BYTES + 1), path.name
        except FileNotFoundError:
            raise DataError(f"There is no file {_show(str(path))}; check its path.") from None
        except (OSError, ValueError):
            raise DataError(f"{_show(str(path))} cannot be read as a file; check it.") from None
    if not hasattr(source, "read"):
        raise InputError("The source must be a path, bytes, or an open file.")
    label = getattr(source, "name", None)
    return source.read(), Path(label).name if isinstance(label, str) and label else "data"


def _parse_table(text: str, label: str) -> list[_RawColumn]:
    lines = io.StringIO(text, newline="")
    reader = csv.reader(lines, delimiter=_separator(text), strict=True, skipinitialspace=True)
    try:
        header = [cell.strip() for cell in next((row for row in reader if not _blank(row)), [])]
        _check_header(header, label)
        columns = _tally(_checked_rows(reader, len(header), label), header)
    except csv.Error as error:
        raise DataError(f"{label}, line {reader.line_num}: {error}; check its quotes.") from None
    n = len(columns[0].index)
    if n < 2:
        raise DataError(f"{label} has {'one row' if n else 'no rows'} of data; give at least 2.")
    return columns


def _separator(text: str) -> str:
    """Return the separator that cuts the first line into the most fields."""
    first = text.lstrip().splitlines()[0]
    return max(SEPARATORS, key=lambda s: len(next(csv.reader([first], delimiter=s), [])))


def _check_header(header: list[str], label: str) -> None:
    if len(header) < 2:
        raise DataError(f"{label} has one column; give at least two, cut by comma, ; or tab.")
    if len(header) > MAX_COLUMNS:
        raise DataError(f"{label} has {len(header):,} columns; keep at most {MAX_COLUMNS:,}.")
    if "" in header:
        where = header.index("") + 1
        raise DataError(f"Column {where} of {label} has no name; name it or delete the column.")
    if len(set(header)) < len(header):
        twice = _show(_repeated(header))
        raise DataError(f"Two columns of {label} are called {twice}; rename or delete one.")


def _checked_rows(reader: Any, width: int, label: str) -> Iterator[list[str]]:
    """Yield the rows that are not blank; `reader` is a csv reader past the header."""
    n = 0
    for row in reader:
        if len(row) == width:
            n += 1
            yield row
        elif not _blank(row):
            raise DataError(
                f"The header of {label} has {width} cells but line {reader.line_num} has "
                f"{len(row)}; make every line the same length."
            )
        if n > MAX_ROWS:
            raise DataError(f"{label} has more than {MAX_ROWS:,} rows; give fewer.")


def _blank(row: list[str]) -> bool:
    return len(row) < 2 and not "".join(row).strip()


def _tally(rows: Iterator[list[str]], header: list[str]) -> list[_RawColumn]:
    """Number each column's distinct cells, in batches so that the cells need not be kept."""
    numbers: list[dict[str, int]] = [{} for _ in header]
    parts: list[list[np.ndarray]] = [[np.empty(0, np.int32)] for _ in header]
    while batch := list(islice(rows, _BATCH)):
        for seen, part, cells in zip(numbers, parts, zip(*batch, strict=True), strict=True):
            index = (seen.setdefault(cell.strip(), len(seen)) for cell in cells)
            part.append(np.fromiter(index, np.int32, len(cells)))
    return [
        _RawColumn(name, list(seen), np.concatenate(part))
        for name, seen, part in zip(header, numbers, parts, strict=True)
    ]


def _refuse_missing(columns: list[_RawColumn]) -> None:
    missing = {}
    for column in columns:
        marked = [value in MISSING for value in column.values]
        if any(marked):
            missing[column.name] = int(column.counts()[marked].sum())
    if missing:
        listed = ", ".join(
            f"{_show(name)} ({count:,})" for name, count in islice(missing.items(), 3)
        )
        more = f" and {len(missing) - 3} more" if len(missing) > 3 else ""
        raise DataError(
            f"Missing values in column {listed}{more}; fill them in or delete those rows, or "
            "declare the marker as a level if it is a real value."
        )


def _code_column(column: _RawColumn, reading: Reading) -> _CodedColumn:
    """Turn text into codes: declared levels, declared edges, few numbers, bins, or text."""
    if column.name in reading.levels:
        return _declared(column, [str(level) for level in reading.levels[column.name]])
    numbers = _numbers(column.values)
    if column.name in reading.edges:
        if numbers is None:
            raise DataError(f"Column {_show(column.name)} has edges but is not all numbers.")
        cuts = _declared_cuts(column.name, reading.edges[column.name])
        return _cut(column, numbers, cuts, None)
    if len(column.values) == 1 or (numbers is not None and len(set(numbers)) == 1):
        raise DataError(
            f"Column {_show(column.name)} holds one value only; delete the column, or declare its "
            "levels if it could hold others."
        )
    if numbers is None:
        return _text_levels(column)
    if len(set(numbers)) <= reading.max_levels:
        return _numeric_levels(column, numbers)
    cuts = _data_cuts(numbers[column.index], reading)
    return _cut(column, numbers, cuts, f"data-chosen {reading.binning} edges")


def _numbers(values: list[str]) -> np.ndarray | None:
    """Return the values as floats where every one is a number of usable size, else nothing."""
    if not all(map(_NUMBER.fullmatch, values)):
        return None
    numbers = np.array([float(value) for value in values])
    return numbers if (abs(numbers) < _HUGE).all() else None


def _declared(column: _RawColumn, levels: list[str]) -> _CodedColumn:
    shown = _show(column.name)
    if not 2 <= len(levels) <= MAX_LEVELS or len(set(levels)) < len(levels):
        raise InputError(f"Column {shown} needs 2 to {MAX_LEVELS} declared levels, all distinct.")
    position = {level: k for k, level in enumerate(levels)}
    for value in column.values:
        if value not in position:
            raise DataError(f"Column {shown} holds {_show(value)}, which is not a declared level.")
    return _CodedColumn(np.array([position[v] for v in column.values])[column.index], tuple(levels))


def _text_levels(column: _RawColumn) -> _CodedColumn:
    if len(column.values) > MAX_LEVELS:
        example = next(v for v in column.values if _numbers([v]) is None)
        raise DataError(
            f"Column {_show(column.name)} has {len(column.values):,} distinct values that are not "
            f"all numbers (such as {_show(example)}); keep at most {MAX_LEVELS} by grouping them, "
            "or delete the column."
        )
    order = sorted(range(len(column.values)), key=lambda i: natural_key(column.values[i]))
    rank = np.argsort(order)
    levels = tuple(column.values[i] for i in order)
    return _CodedColumn(rank[column.index], levels, levels_from_data=True)


def _numeric_levels(column: _RawColumn, numbers: np.ndarray) -> _CodedColumn:
    """Levels in numeric order; spellings of one number (1, 1.0) share the shortest label."""
    _, rank = np.unique(numbers, return_inverse=True)
    spellings = sorted(zip(rank, map(len, column.values), column.values, strict=True), reverse=True)
    shortest = {int(k): value for k, _, value in spellings}
    levels = tuple(shortest[k] for k in range(len(shortest)))
    return _CodedColumn(rank[column.index], levels, levels_from_data=True)


def _declared_cuts(name: str, edges: Sequence[float]) -> np.ndarray:
    try:
        cuts = np.asarray(edges, dtype=float)
    except (TypeError, ValueError):
        cuts = np.array([math.nan])
    finite = cuts.ndim == 1 and np.isfinite(cuts).all()
    if not finite or not 1 <= len(cuts) < MAX_LEVELS or not (np.diff(cuts) > 0).all():
        raise InputError(
            f"The edges of column {_show(name)} must be 1 to {MAX_LEVELS - 1} increasing numbers."
        )
    return cuts


def _data_cuts(values: np.ndarray, reading: Reading) -> np.ndarray:
    """Return cut points in (min, max], (n,) -> at most bins - 1 of them, at least one."""
    low, high = values.min(), values.max()
    steps = np.arange(1, reading.bins) / reading.bins
    if reading.binning == "width":
        points: np.ndarray = low + (high - low) * steps
    else:
        points = np.quantile(values, steps)
    cuts = np.unique(points[points > low])
    # So many ties at the minimum that every quantile is there: cut just above it.
    return cuts if cuts.size else np.array([values[values > low].min()])


def _cut(
    column: _RawColumn, numbers: np.ndarray, cuts: np.ndarray, chosen: str | None
) -> _CodedColumn:
    """Code values by the cut points; `chosen` says how, where the data chose them."""
    codes = np.searchsorted(cuts, numbers, side="right")[column.index]
    labels = _interval_labels(cuts)
    if chosen is None:
        note = f"Column {column.name} was cut into {len(labels)} levels at declared edges."
    else:
        note = (
            f"Column {column.name} was cut into {len(labels)} levels at {chosen} "
            f"({', '.join(_numerals(cuts))}), read from the data without noise; for a strict "
            "guarantee give the edges as public facts (edges)."
        )
    return _CodedColumn(codes, labels, note)


def _interval_labels(cuts: np.ndarray) -> tuple[str, ...]:
    shown = _numerals(cuts)
    inner = [f"[{low}, {high})" for low, high in pairwise(shown)]
    return (f"< {shown[0]}", *inner, f">= {shown[-1]}")


def _numerals(cuts: np.ndarray) -> list[str]:
    """Six digits where they tell the cut points apart, else all digits."""
    short = [f"{cut:.6g}" for cut in cuts]
    return short if len(set(short)) == len(short) else [repr(float(cut)) for cut in cuts]


def natural_key(text: str) -> tuple[list[tuple[int, int, str]], str]:
    """Sort key: upper and lower case alike, runs of digits by their value ("x2" < "x10")."""
    parts = re.findall(r"[0-9]+|[^0-9]+", text.casefold())
    # Digit runs compare as (length, digits): their value, without converting huge numbers.
    runs = [part.lstrip("0") if part[0] in "0123456789" else None for part in parts]
    keys = [
        (1, 0, part) if run is None else (0, len(run), run)
        for part, run in zip(parts, runs, strict=True)
    ]
    return keys, text


def read_edges(source: Source, names: Sequence[str]) -> nx.DiGraph:
    """Read an edge list, one `from,to` or `from -> to` a line, as a graph over `names`.

    Raises DataError where a line is malformed, a name is not a column, or edges form a
    loop or a cycle.
    """
    text, label = _read_text(source)
    graph = nx.DiGraph()
    graph.add_nodes_from(names)
    lines = [(k, line) for k, line in enumerate(text.splitlines(), 1) if line.strip()]
    for position, (number, line) in enumerate(lines):
        cells = _edge_cells(line)
        if position == 0 and _is_edge_header(cells, names):
            continue
        _check_edge(cells, names, f"Line {number} of {label}")
        graph.add_edge(*cells)
    if not graph.edges:
        raise DataError(f"{label} has no edges; give one edge a line, or leave the truth out.")
    _refuse_cycle(graph, label)
    return graph


def _edge_cells(line: str) -> tuple[str, ...]:
    if "->" in line:
        cells = line.split("->")
    else:
        cells = next(csv.reader([line], delimiter=_separator(line), skipinitialspace=True), [])
    return tuple(cell.strip().strip('"') for cell in cells)


def _is_edge_header(cells: tuple[str, ...], names: Sequence[str]) -> bool:
    return tuple(map(str.casefold, cells)) in EDGE_HEADERS and not set(cells) <= set(names)


def _check_edge(cells: tuple[str, ...], names: Sequence[str], where: str) -> None:
    if len(cells) != 2 or not all(cells):
        raise DataError(f"{where} is not an edge; write it as from,to or from -> to.")
    for cell in cells:
        if cell not in names:
            hint = did_you_mean(cell, names)
            raise DataError(f"{where} names {_show(cell)}, which is not a column.{hint}")
    if cells[0] == cells[1]:
        raise DataError(f"{where} is an edge from {_show(cells[0])} to itself; delete it.")


def _repeated(names: Sequence[str]) -> str:
    return next(name for i, name in enumerate(names) if name in names[:i])


def _show(value: str) -> str:
    """Quote a value for a message, on one line and not too long."""
    return repr(value if len(value) <= 60 else value[:57] + "...")
