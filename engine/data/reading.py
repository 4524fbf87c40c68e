"""Read a CSV file as discrete data."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import numpy as np

from engine.data.dataset import Dataset, code_type, repeated
from engine.data.edge_list import read_edges
from engine.data.levels import RawColumn, Reading, code_column, notes, show
from engine.data.schema import Schema
from engine.data.source import Source, read_text, separator
from engine.errors import DataError

MAX_ROWS = 10_000_000
MAX_COLUMNS = 1_000
MISSING = frozenset({"", "?", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "None"})
_BATCH = 50_000


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
) -> Dataset:
    """Read a table with a header line (UTF-8; comma, semicolon or tab) as discrete data.

    source      a path, bytes, or an open file; `truth` likewise, an edge list with one
                edge a line, `from,to` or `from -> to`, with or without a header line.
    schema      declared public facts (:mod:`engine.data.schema`) in the place of all that
                follows: what a guarantee for a person's own data needs.
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
    text, label = read_text(source)
    columns = _parse_table(text, label)
    if schema is not None:
        return _follow(schema, columns, name or Path(label).stem, label, truth)
    names = tuple(column.name for column in columns)
    reading.check_columns(names)
    _refuse_missing([column for column in columns if column.name not in reading.levels])
    coded = [code_column(column, reading) for column in columns]
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
        declared=all(column.name in reading.levels.keys() | reading.edges for column in columns),
        notes=notes(names, coded),
    )


def _follow(
    schema: Schema, columns: list[RawColumn], name: str, label: str, truth: Source | None
) -> Dataset:
    """The columns that the schema declares, coded by its rules alone."""
    chosen = schema.pick(columns, label)
    schema.check_rows(len(chosen[0].index), label)
    codes = np.empty((len(chosen[0].index), len(chosen)), code_type(map(len, schema.levels)), "F")
    for j, (column, facts) in enumerate(zip(chosen, schema.columns, strict=True)):
        codes[:, j] = facts.code(column)
    codes.flags.writeable = False
    return Dataset(
        name=name,
        codes=codes,
        names=schema.names,
        levels=schema.levels,
        truth=None if truth is None else read_edges(truth, schema.names),
        declared=True,
        notes=("All columns follow the declared schema.",),
    )


def _parse_table(text: str, label: str) -> list[RawColumn]:
    lines = io.StringIO(text, newline="")
    reader = csv.reader(lines, delimiter=separator(text), strict=True, skipinitialspace=True)
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


def _check_header(header: list[str], label: str) -> None:
    if len(header) < 2:
        raise DataError(f"{label} has one column; give at least two, cut by comma, ; or tab.")
    if len(header) > MAX_COLUMNS:
        raise DataError(f"{label} has {len(header):,} columns; keep at most {MAX_COLUMNS:,}.")
    if "" in header:
        where = header.index("") + 1
        raise DataError(f"Column {where} of {label} has no name; name it or delete the column.")
    if len(set(header)) < len(header):
        twice = show(repeated(header))
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


def _tally(rows: Iterator[list[str]], header: list[str]) -> list[RawColumn]:
    """Number each column's distinct cells, in batches so that the cells need not be kept."""
    numbers: list[dict[str, int]] = [{} for _ in header]
    parts: list[list[np.ndarray]] = [[np.empty(0, np.int32)] for _ in header]
    while batch := list(islice(rows, _BATCH)):
        for seen, part, cells in zip(numbers, parts, zip(*batch, strict=True), strict=True):
            index = (seen.setdefault(cell.strip(), len(seen)) for cell in cells)
            part.append(np.fromiter(index, np.int32, len(cells)))
    return [
        RawColumn(name, list(seen), np.concatenate(part))
        for name, seen, part in zip(header, numbers, parts, strict=True)
    ]


def _refuse_missing(columns: list[RawColumn]) -> None:
    missing = {}
    for column in columns:
        marked = [value in MISSING for value in column.values]
        if any(marked):
            missing[column.name] = int(column.counts()[marked].sum())
    if missing:
        listed = ", ".join(
            f"{show(name)} ({count:,})" for name, count in islice(missing.items(), 3)
        )
        more = f" and {len(missing) - 3} more" if len(missing) > 3 else ""
        raise DataError(
            f"Missing values in column {listed}{more}; fill them in or delete those rows, or "
            "declare the marker as a level if it is a real value."
        )
