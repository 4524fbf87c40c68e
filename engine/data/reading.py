"""Read a table in any common form as discrete data."""

from __future__ import annotations

import csv
import os
import re
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np

from engine.data.column import DELIMITERS, LEVEL, PLAIN
from engine.data.dataset import Dataset, frozen, refuse_cycle
from engine.data.draft import look
from engine.data.intake import project
from engine.data.schema import Schema
from engine.data.sources import framed, opened
from engine.data.spreadsheets import unsafe
from engine.errors import NOT_IN_TETRAD, DataError, InputError, did_you_mean, portable, show
from engine.knowledge import read_text
from engine.monitor import QUIET, Monitor, OnProgress, Stop

TETRAD_HEADER = "graph nodes:"
EDGE_HEADERS = (["from", "to"], ["source", "target"], ["parent", "child"])


def read_table(
    source: Any,
    schema: Schema | None = None,
    *,
    stop: Stop | None = None,
    on_progress: OnProgress | None = None,
    **options: Any,
) -> Dataset:
    r"""Read any table as discrete data: a file, a folder, a frame or an array.

    Args:
        source: Delimited text with a header line (comma, semicolon, tab or pipe; gzip or not) as a
            path, bytes or an open file; the path of a Parquet or Arrow file, of a folder of CSV or
            Parquet files, of a workbook (.xlsx, .xlsm, .xls), of a SQLite or DuckDB file; a pandas,
            Polars or Arrow table; an (n, d) array.
        schema: The declared public facts. Without them :meth:`Schema.draft` infers them from the
            rows, and there is no guarantee.
        stop: A ``threading.Event``, or a function that returns whether to stop.
        on_progress: A function of a share and a phrase, called from another thread.
        options: ``truth``, a path or bytes, has text with one edge per line, ``from,to`` or ``from
            -> to``, or Tetrad's text of a graph. ``name`` is the dataset's name, by default the
            file's. ``encoding`` ("utf-8", "utf-16" or "latin-1"), ``delimiter`` and ``decimal`` are
            used if the schema's dialect does not set them. ``query`` is SQL on a database file,
            needed if it has several tables.

    Returns:
        A private dataset with d columns: distinct rows of codes and their counts.

    Raises:
        DataError: If the table cannot be used, in one sentence.
        InputError: If an argument is invalid, in one sentence.
        engine.monitor.Cancelled: If ``stop`` ended the reading.

    Examples:
        >>> data = read_table(b"smokes,coughs\nyes,yes\nno,no\nno,yes\n", name="ward")
        >>> data
        <Dataset 'ward': 3 rows, 2 columns, private, undeclared>
        >>> data.levels[0], data.codes.tolist()
        (('no', 'yes'), [[0, 0], [0, 1], [1, 1]])

        >>> import pandas as pd
        >>> frame = pd.DataFrame({"smokes": ["yes", "no", None], "age": [31, 47, 68]})
        >>> data = read_table(frame, Schema.draft(frame).declare("smokes", age={"cuts": [50]}))
        >>> data.levels
        (('no', 'yes', 'missing'), ('< 50', '>= 50'))
        >>> data.unforeseen[["column", "cells", "counts as"]].values.tolist()
        [['smokes', 1, 'missing']]
    """
    return _told(read(source, schema, monitor=Monitor(on_progress, stop), **options))


def read(
    source: Any,
    schema: Schema | None = None,
    *,
    query: str | None = None,
    truth: str | os.PathLike[str] | bytes | None = None,
    name: str | None = None,
    monitor: Monitor = QUIET,
    **dialect: str | None,
) -> Dataset:
    """Read like :func:`read_table`, for a caller that reports unmatched values to the owner."""
    if not isinstance(schema, Schema | None):
        raise InputError(
            "The schema must be a Schema, from Schema.draft(frame) or load_schema(path)."
        )
    said = (PLAIN if schema is None else schema.dialect).said(dialect)
    if schema is not None and isinstance(source, np.ndarray):
        source = framed(source, schema.names)
    of_rows = schema is not None and not schema.waiting and schema.person is None
    least = getattr(schema, "rows", None) or (0 if of_rows else None)
    with opened(source, said, query, least, monitor) as table:
        if schema is None:
            looked, table = look(table, guess="decimal" not in dialect)
            schema = Schema.proposed(looked, table.dialect)
        found, unforeseen = project(table, schema.read_by, schema.person)
    label, n = table.label, int(found[1].sum())
    if n < 2:
        raise DataError(f"{label} has {'one row' if n else 'no rows'} of data; give at least 2.")
    if schema.rows not in (None, n):
        raise DataError(f"{label} has {n:,} {schema.what} but the schema declares {schema.rows:,}.")
    for one in unforeseen:
        if one.to is None:  # no replacement is declared
            raise DataError(
                f'Column {one}; declare in the schema how they count: "other": one of its levels '
                f'(or "{LEVEL}", of a numeric column, for a separate level).'
            )
    return Dataset(
        name=name or Path(label.removesuffix(".gz")).stem,
        codes=frozen(found[0]),
        weights=frozen(found[1]),
        names=schema.names,
        levels=schema.levels,
        truth=None if truth is None else read_edges(truth, schema.names),
        schema=None if schema.waiting else schema,
        notes=_notes(schema),
        unforeseen_cells=unforeseen,
    )


def _told(data: Dataset) -> Dataset:
    """Return the data after a warning about unmatched values that quotes none of them."""
    if data.unforeseen_cells:
        said = "; ".join(map(str, data.unforeseen_cells))
        warnings.warn(f"{said}. See data.unforeseen.", UserWarning, stacklevel=3)
    return data


def as_dataset(data: Any, schema: Schema | None = None, monitor: Monitor = QUIET) -> Dataset:
    """Return data in any form used in notebooks, read by the schema if there is one.

    Raises InputError, in one sentence, for anything else and for a dataset that was read
    differently.
    """
    if not isinstance(data, Dataset):
        return _told(read(data, schema, monitor=monitor))
    if schema is not None and data.schema != schema:
        raise InputError("Pass the schema to read_table(); it cannot be added later.")
    return data


def _notes(schema: Schema) -> tuple[str, ...]:
    """Return how a schema read a table, for :attr:`Dataset.notes`."""
    if not schema.waiting:
        who = "" if schema.person is None else "; one row per person"
        return (f"All columns follow the declared schema{who}.",)
    more = len(schema.waiting) - 5
    listed = ", ".join(schema.waiting[:5]) + (f" and {more} more" if more > 0 else "")
    return (
        f"The levels of {listed} were found in the data and are not declared: declare them to have "
        "a guarantee.",
        *(f"Column {remark}." for remark in schema.remarks),
    )


# True graphs ------------------------------------------------------------------------------------


def read_edges(source: str | os.PathLike[str] | bytes, names: Sequence[str]) -> nx.DiGraph:
    """Read an edge list, one `from,to` or `from -> to` per line, as a graph over `names`.

    Tetrad's text of a graph, with its arrows `-->`, is also accepted.

    Raises DataError if a line is malformed, a name is not a column, or edges form a loop or a
    cycle.
    """
    graph, text = nx.empty_graph(names, nx.DiGraph), read_text(source, "edge list")
    tetrad = text.lstrip().casefold().startswith(TETRAD_HEADER)
    for number, line in enumerate(text.splitlines(), 1):
        cells = _tetrad_cells(line, names) if tetrad else _cells(line, names)
        strange = [cell for cell in cells if cell not in names]
        head = not graph.edges and [cell.casefold() for cell in cells] in EDGE_HEADERS
        if not line.strip() or (head and strange) or (tetrad and not cells):
            continue
        where = f"Line {number} of the edge list"
        if tetrad and len(cells) != 2:
            raise DataError(
                f"{where} is not a directed edge a --> b, as all edges of a true graph must be."
            )
        if len(cells) != 2 or not all(cells):
            raise DataError(f"{where} is not an edge; write it as from,to or from -> to.")
        if strange:
            hint = did_you_mean(strange[0], names)
            raise DataError(f"{where} names {show(strange[0])}, which is not a column.{hint}")
        graph.add_edge(*cells)
    if not graph.edges:
        raise DataError("The edge list is empty; give one edge per line, or leave the truth out.")
    refuse_cycle(graph, "The edge list")
    return graph


def _tetrad_cells(line: str, names: Sequence[str]) -> list[str]:
    """Return both ends of an arrow in Tetrad's text, or one cell for another edge, or none."""
    edge = re.fullmatch(r"\s*\d+\.\s+(.+)", line)
    if edge is None:
        return []
    called = dict(zip(portable(names, NOT_IN_TETRAD), names, strict=True))
    return [called.get(cell, cell) for cell in re.split(r"\s+-->\s+", edge[1].rstrip())]


def _cells(line: str, names: Sequence[str]) -> list[str]:
    """Return the cells of a line, split at names of the table if possible."""
    delimiter = max(DELIMITERS, key=line.count)
    cells = next(csv.reader([line], delimiter=delimiter, skipinitialspace=True), [])
    if "->" in line and not set(map(str.strip, cells)) <= set(names):  # a name may contain an arrow
        cells = line.split("->")
    cells = [cell.strip().strip('"') for cell in cells]
    return [cell if cell in names else unsafe(cell) for cell in cells]
