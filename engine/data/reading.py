"""Read a table, in whatever form people have it, as discrete data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from engine.data import delimited, doors
from engine.data.dataset import MAX_FOLDED, Dataset, code_type
from engine.data.delimited import MAX_COLUMNS
from engine.data.distinct import Folded
from engine.data.edge_list import read_edges
from engine.data.levels import Coding, RawColumn, Reading, code_column, notes, repeated
from engine.data.numerals import Numbers
from engine.data.persons import gathered
from engine.data.schema import Schema
from engine.data.source import Source, stream
from engine.data.tally import MISSING, Batches, coded, tally
from engine.errors import DataError, InputError, MissingValues, show

__all__ = ["MAX_COLUMNS", "MAX_ROWS", "read_csv", "read_table"]

MAX_ROWS = 100_000_000
Missing = Literal["refuse", "level", "drop"]


def read_csv(
    source: Source,
    *,
    truth: Source | None = None,
    name: str | None = None,
    schema: Schema | None = None,
    levels: Mapping[str, Sequence[str]] | None = None,
    edges: Mapping[str, Sequence[float]] | None = None,
    bins: int = 5,
    binning: Literal["quantile", "width"] = "quantile",
    max_levels: int = 10,
    missing: Missing = "refuse",
    encoding: str = "utf-8",
    decimal: str | None = None,
    thousands: str | None = None,
) -> Dataset:
    r"""Read a table with a header line (comma, semicolon, tab or pipe) as discrete data.

    Columns without a rule keep their values as levels: in numeric order where all are numbers, else
    in natural order (upper and lower case alike, runs of digits by their value). Empty cells, NA,
    N/A, NaN, ?, null and None count as missing, unless declared in ``levels``. What was read from
    the data without noise is said in the notes. A first column without a name that numbers the
    rows, a separator at the end of every line, lines of comment (#) and a line ``sep=;`` are passed
    over.

    Args:
        source: A path, bytes, or an open file, gzip or not.
        truth: Likewise: one edge a line, ``from,to`` or ``from -> to``, with or without a header.
        name: What the dataset is called; the file's name by default.
        schema: Declared public facts in the place of the rules that follow: what a guarantee for a
            person's own data needs.
        levels: Declared levels of a column in their order; cells must be among them.
        edges: Declared cut points of a numeric column: k of them make k + 1 levels, a value on a
            cut point belonging to the level above it. With levels or edges alone the dataset is not
            declared: how numbers are written is still found in all rows.
        bins: Levels of a numeric column or of dates with more than ``max_levels`` distinct values.
        binning: Whether those are cut at "quantile" or in equal "width".
        max_levels: Distinct values that are kept as they are.
        missing: "refuse" them, keep them as a "level" of their own, or "drop" the rows.
        encoding: "utf-8", "utf-16" or "latin-1".
        decimal: The decimal sign; found out where only one way fits, and then noted.
        thousands: The separator of thousands; likewise.

    Returns:
        A private dataset of n rows and d columns.

    Raises:
        DataError: For a bad file, in one sentence.
        InputError: For a bad argument, in one sentence.

    Examples:
        >>> data = read_csv(b"smokes,coughs\nyes,yes\nno,no\nno,yes\n", name="ward")
        >>> data
        <Dataset 'ward': 3 rows, 2 columns, private, undeclared>
        >>> data.levels[0], data.codes.tolist()
        (('no', 'yes'), [[1, 1], [0, 0], [0, 1]])
    """
    numbers = Numbers(decimal, thousands)
    reading = Reading(levels or {}, edges or {}, bins, binning, max_levels, numbers)
    found = stream(source, encoding)

    def read(batches: Batches) -> Dataset:
        if schema is not None:
            return _follow(batches, schema, numbers, name, truth)
        return _dataset(batches, reading, missing, name, truth)

    return delimited.delimited(found, read)


def read_table(
    source: Any,
    *,
    query: str | None = None,
    sheet: str | None = None,
    **options: Any,
) -> Dataset:
    """Read any table as discrete data: a file or a frame.

    Integers and floats are numbers, booleans the levels false and true, dates are cut like
    numbers; a null, NaN and what counts as missing in a CSV file are missing values.

    Args:
        source: CSV as for :func:`read_csv`; the path of a Parquet or Arrow file, of a folder of
            Parquet files, of an Excel workbook (or .ods), of a SQLite or DuckDB file; a pandas,
            Polars or Arrow table, whose ordered categories are declared levels.
        query: SQL on a database file; without it, its only table.
        sheet: Of a workbook; its first unless said.
        options: Those of :func:`read_csv`; ``encoding`` is for text alone.

    Returns:
        A private dataset of n rows and d columns.

    Raises:
        DataError: For a bad table, in one sentence.
        InputError: For a bad argument, in one sentence.

    Examples:
        >>> import pandas as pd
        >>> frame = pd.DataFrame({"smokes": ["yes", "no", "no"], "age": [31, 47, 68]})
        >>> read_table(frame, edges={"age": [50]}).levels
        (('no', 'yes'), ('< 50', '>= 50'))
    """
    encoding = options.pop("encoding", "utf-8")
    return doors.through_door(source, query, sheet, encoding, _reader(options))


def _reader(options: dict[str, Any]) -> doors.Read[Dataset]:
    """What becomes of batches under the options of `read_csv`."""
    given: dict[str, Any] = {
        "levels": {},
        "edges": {},
        "bins": 5,
        "binning": "quantile",
        "max_levels": 10,
    }
    given |= {k: v for k, v in options.items() if k in given and v is not None}
    numbers = Numbers(options.get("decimal"), options.get("thousands"))
    missing = options.get("missing", "refuse")
    known = {*given, "truth", "name", "missing", "decimal", "thousands", "schema"}
    if unknown := next(iter(options.keys() - known), None):
        raise InputError(f"read_table has no option {unknown!r}.")
    reading = Reading(**given, numbers=numbers)
    if (schema := options.get("schema")) is not None:
        return lambda batches: _follow(
            batches, schema, numbers, options.get("name"), options.get("truth")
        )
    return lambda batches: _dataset(
        batches, reading, missing, options.get("name"), options.get("truth")
    )


def _dataset(
    batches: Batches, reading: Reading, missing: Missing, name: str | None, truth: Any
) -> Dataset:
    """Tally the batches, decide on each column, and write the codes column by column."""
    if missing not in ("refuse", "level", "drop"):
        raise InputError("missing must be 'refuse', 'level' or 'drop'.")
    check_names(batches)
    reading.check_columns([n for n in batches.names if n])
    reading = replace(reading, numbers=batches.guessed(reading.numbers))
    columns, left_out = _named(tally(batches.filled(), reading.numbers, MAX_ROWS), batches.label)
    check_rows(columns[0].n, batches.label)
    columns, said = _without_missing(columns, reading, missing, batches.label)
    if batches.arranged:
        known = [c.name for c in columns if c.name not in (*reading.levels, *reading.edges)]
        kept = {k: v for k, v in batches.arranged.items() if k in known}
        reading = replace(reading, arranged=kept)
    if batches.ordered:
        declared = {k: v for k, v in batches.ordered.items() if k not in reading.edges}
        reading = reading.with_levels(declared)
    coded = [code_column(column, reading) for column in columns]
    names = tuple(column.name for column in columns)
    codes = _codes(columns, coded)
    label = batches.label.removesuffix(".gz")
    return Dataset(
        name=name or Path(label).stem,
        codes=codes,
        names=names,
        levels=tuple(coding.levels for coding in coded),
        truth=None if truth is None else read_edges(truth, names),
        notes=(*batches.notes, *left_out, *said, *notes(names, coded)),
    )


def _follow(
    batches: Batches, schema: Schema, numbers: Numbers, name: str | None, truth: Any
) -> Dataset:
    """The columns that the schema declares, coded by its rules alone, whatever their cells hold."""
    check_names(batches)
    label, numbers = batches.label.removesuffix(".gz"), batches.written(numbers)
    if schema.person is not None:
        return folded_dataset(gathered(batches, schema, numbers), schema, label, name, truth)
    batches = batches.stated(schema.rows)
    columns = coded(batches, schema.places(batches.names, label), schema.coders(numbers), MAX_ROWS)
    check_rows(len(columns[0]), label)
    schema.check_rows(len(columns[0]), label)
    codes = np.empty((len(columns[0]), len(columns)), code_type(map(len, schema.levels)), "F")
    for j, column in enumerate(columns):
        codes[:, j] = column
    codes.flags.writeable = False
    return Dataset(
        name=name or Path(label).stem,
        codes=codes,
        names=schema.names,
        levels=schema.levels,
        truth=None if truth is None else read_edges(truth, schema.names),
        schema=None if schema.waiting else schema,
        notes=(follows(schema),),
    )


def folded_dataset(
    found: Folded, schema: Schema, label: str, name: str | None, truth: Any
) -> Dataset:
    """Distinct rows, read by a schema and counted, as a dataset; DataError for too few or many."""
    n = int(found.weights.sum())
    check_rows(n, label)
    schema.check_rows(n, label)
    if n > MAX_FOLDED:
        raise DataError(f"{label} has more than {MAX_FOLDED:,} {schema.what}; give fewer.")
    codes, weights = np.asfortranarray(found.codes), found.weights
    codes.flags.writeable = weights.flags.writeable = False
    return Dataset(
        name=name or Path(label.removesuffix(".gz")).stem,
        codes=codes,
        weights=weights,
        names=schema.names,
        levels=schema.levels,
        truth=None if truth is None else read_edges(truth, schema.names),
        schema=None if schema.waiting else schema,
        notes=(follows(schema), "Equal rows were folded on reading."),
    )


def follows(schema: Schema) -> str:
    """How a table was read by a schema, for :attr:`Dataset.notes`."""
    if schema.waiting:
        return (
            f"What {_listed(list(schema.waiting))} can hold was found in the data and is not "
            "stated: nothing is defended until it is."
        )
    if schema.person is not None:
        return "All columns follow the declared schema; one row a person."
    return "All columns follow the declared schema."


def _codes(columns: list[RawColumn], coded: list[Coding]) -> np.ndarray:
    """One column at a time, each index let go: never more than the codes beside what was read."""
    kind = code_type(len(coding.levels) for coding in coded)
    codes = np.empty((columns[0].n, len(columns)), kind, "F")
    columns.reverse()
    for j, coding in enumerate(coded):
        codes[:, j] = coding.codes(columns.pop(), kind)
    codes.flags.writeable = False
    return codes


def check_names(batches: Batches) -> None:
    """Refuse a table whose columns cannot be told apart; DataError."""
    names = [name for name in batches.names if name]
    if len(names) < 2:
        raise DataError(f"{batches.label} has fewer than two columns with a name; give two.")
    if len(set(names)) < len(names):
        twice = show(repeated(names))
        raise DataError(f"Two columns of {batches.label} are called {twice}; rename or delete one.")
    if len(names) > MAX_COLUMNS:
        raise DataError(
            f"{batches.label} has {len(names):,} columns; keep at most {MAX_COLUMNS:,}."
        )


def check_rows(n: int, label: str) -> None:
    """Refuse a table of fewer than two rows; DataError."""
    if n < 2:
        raise DataError(f"{label} has {'one row' if n else 'no rows'} of data; give at least 2.")


def _named(columns: list[RawColumn], label: str) -> tuple[list[RawColumn], list[str]]:
    """The columns with a name; of those without, a row index and an empty one are passed over."""
    kept, said = [], []
    for place, column in enumerate(columns):
        if column.name:
            kept.append(column)
            continue
        distinct = column.numbers or len(column.values) == len(column.index)
        if place == 0 and distinct:
            said.append("The first column has no name and numbers the rows; it was left out.")
        elif column.values != [""]:
            raise DataError(
                f"Column {place + 1} of {label} has no name; name it or delete the column."
            )
    return kept, said


# Missing values -----------------------------------------------------------------------


def _without_missing(
    columns: list[RawColumn], reading: Reading, missing: Missing, label: str
) -> tuple[list[RawColumn], list[str]]:
    gone = {}
    for column in columns:
        if column.name not in reading.levels and (mask := _missing_cells(column)) is not None:
            gone[column.name] = mask
    if not gone:
        return columns, []
    if missing == "level":
        level = f"Missing values of {_listed(list(gone))} are a level of their own, the last."
        return [_with_gaps(column, gone.get(column.name)) for column in columns], [level]
    if missing == "refuse":
        raise MissingValues({name: int(mask.sum()) for name, mask in gone.items()})
    dropped = np.logical_or.reduce(list(gone.values()))
    n = len(dropped) - int(dropped.sum())
    check_rows(n, f"Without its rows with missing values, {label}")
    note = (
        f"{len(dropped) - n:,} of {len(dropped):,} rows had a missing value and were left out; "
        f"the {n:,} that stay count as public, so no guarantee hides whether a row was complete."
    )
    return [column.kept(~dropped) for column in columns], [note]


def _missing_cells(column: RawColumn) -> np.ndarray | None:
    """Which rows have no value in the column; None if all have."""
    if column.numbers:
        mask = np.isnan(column.index)
        return mask if mask.any() else None
    marked = np.array([value in MISSING for value in column.values], bool)
    return np.asarray(marked[column.index]) if marked.any() else None


def _listed(names: list[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if names[5:] else "")


def _with_gaps(column: RawColumn, mask: np.ndarray | None) -> RawColumn:
    return column if mask is None else replace(column.kept(~mask), gaps=mask)
