"""Turn cells into codes, and a table into weighted rows, with one projection.

A schema becomes one SELECT, which DuckDB runs on a source (:mod:`engine.data.sources`). The code of
a cell depends only on this cell and on the schema, with one SQL expression per column:

1. blanks around it are ignored;
2. the exact text of a level; otherwise
3. a level that is the same number (1, 1.0, True and "true" alike); otherwise
4. a level that is the same word in another case, if only one level fits; otherwise
5. in a numeric column, a number between two cut points, or the label of such an interval; otherwise
6. it is an unmatched value and counts as the column's ``other``. The number of unmatched values is
   reported to the table's owner, separately from the result (:class:`Unforeseen`).

Rows are counted, not stored: the result is the distinct rows of codes with their counts.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from engine.data.cell import Cell, empty, moment, number, once
from engine.data.column import ADDED, Column, Person, Unforeseen
from engine.data.dataset import mixed_radix_keys
from engine.data.sources import BLANKS, Relation, opened, quoted
from engine.data.spreadsheets import safe
from engine.monitor import QUIET, Monitor

_VALUE = re.compile(r"\d|true|false", re.IGNORECASE)  # occurs in every level that is a number
_SHOWN = 5  # of a column's unmatched values
_MOST = 9e12  # a larger number counts as this value in a person's sum


# The code of a cell ----------------------------------------------------------------------------


def code(column: Column, cell: Cell, unit: int = 1, rest: int | None = None) -> str:
    """Return the SQL of a cell's code; an unmatched value gets ``rest`` (or K, or K + 1 if empty).

    The exact text of a level or a number is tried first; the other rules apply to other cells.
    Codes are multiples of ``unit``.
    """
    when = partial(_when, unit)
    none = f"WHEN {empty('x')} THEN {(column.size + 1) * unit} ELSE {column.size * unit}"
    none = none if rest is None else f"ELSE {rest * unit}"
    if column.type == "numeric":
        points, x = column.points(), cell.number if cell.typed else "x"
        cut = when(x, ((f"{p!r}::DOUBLE", i) for i, p in enumerate(points)), "<")
        cut = f"CASE {cut} ELSE {len(points) * unit} END"
        most = f"WHEN isfinite({cell.number}) THEN {cut if cell.typed else once(cell.number, cut)}"
        looser = when("x", _words(column.labels))
    else:
        texts = [*column.words, *((i, safe(w)) for i, w in column.words if safe(w) != w)]
        words = [(i, word.strip(BLANKS)) for i, word in column.words]
        folded = Counter(word.lower() for _, word in words)
        held = ((number(quoted(w), cell.decimal), i) for i, w in words if _VALUE.search(w))
        finite = ((f"(CASE WHEN isfinite({v}) THEN {v} END)", i) for v, i in held)
        alone = ((f"lower({quoted(w)})", i) for i, w in words if folded[w.lower()] == 1)
        most = when(cell.stored, ((quoted(word), i) for i, word in texts))
        same = when("x", ((quoted(word.strip(BLANKS)), i) for i, word in texts))
        looser = f"{same} {when(number('x', cell.decimal), finite)} {when('lower(x)', alone)}"
    others = once(cell.text, f"CASE {looser} {none} END")
    return f"(CASE {most} ELSE {others}::BIGINT END)"


def _when(unit: int, what: str, keys: Iterable[tuple[str, int]], sign: str = "=") -> str:
    return " ".join(f"WHEN {what} {sign} {key} THEN {i * unit}" for key, i in keys)


def _words(labels: Sequence[str]) -> Iterator[tuple[str, int]]:
    return ((quoted(label), i) for i, label in enumerate(labels))


# The projection -------------------------------------------------------------------------------

Weighted = tuple[np.ndarray, np.ndarray]  # distinct rows of codes (k, d), and their counts (k,)


def project(
    table: Relation, columns: Sequence[Column], person: Person | None = None
) -> tuple[Weighted, tuple[Unforeseen, ...]]:
    """Return the table's weighted rows and its unmatched values.

    With a ``person`` each row is one person. The caller refuses unmatched values in a column
    without ``other``.
    """
    read = [column for column in columns if column.take != "count"]
    # a count of rows needs no column
    there = (c for c in columns if c in read or c.name in table.places)
    cells = {c.name: Cell.of(table, c.name, c.part, c.missing or ()) for c in there}
    terms = [partial(code, column, cells[column.name]) for column in read]
    codes, weights = _counted(table.con, read, terms, table.sql)
    unforeseen = tuple(_unforeseen(table, read, cells, (codes, weights)))
    if person is not None:
        (codes, weights), nobody = _persons(table, columns, person, cells)
        unforeseen += nobody
    sizes = np.array([column.size for column in columns])
    if (none := codes >= sizes).any():  # rows that have become equal are merged
        others = np.array([column.other_code or 0 for column in columns], np.uint8)
        codes = np.where(none, others, codes)
        keys = mixed_radix_keys(codes, sizes.tolist())
        _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
        codes = codes[first]
        weights = np.bincount(inverse, weights).astype(np.int64)  # sums below 2^53 are exact
    return (codes, weights), unforeseen


def _counted(
    con: Any, columns: Sequence[Column], terms: Sequence[Callable[[int], str]], source: str
) -> Weighted:
    """Return the distinct rows of a source in order, with their counts.

    A term is the SQL of a column's code. Rows are grouped by whole numbers that pack several codes;
    each code has bits for the levels of any column and for two kinds of unmatched values.
    """
    bits = max((column.size + 1 for column in columns), default=1).bit_length()
    per = 63 // bits
    places = [(j // per, bits * (per - 1 - j % per)) for j in range(len(terms))]
    named = [term(1 << place) for term, (_, place) in zip(terms, places, strict=True)]
    keys = [f"{' | '.join(named[j : j + per])} AS k{j // per}" for j in range(0, len(named), per)]
    keys.append("count(*) AS n")
    asked = f"SELECT {', '.join(keys)} FROM {source} GROUP BY ALL ORDER BY ALL"
    found = con.execute(asked).fetchnumpy()
    codes = [(found[f"k{k}"] >> place & (1 << bits) - 1).astype(np.uint8) for k, place in places]
    return np.array(codes).T, found["n"].astype(np.int64)


def _unforeseen(
    table: Relation, columns: Sequence[Column], cells: dict[str, Cell], rows: Weighted
) -> Iterator[Unforeseen]:
    """Yield the unmatched values: one record per column, and one for its empty cells."""
    codes, weights = rows
    total = int(weights.sum())
    for column, held in zip(columns, codes.T, strict=True):
        cell, other = cells[column.name], column.other_code
        to = None if other is None else column.labels[other]
        said = partial(Unforeseen, column.name, of=total, to=to)
        if strange := int(weights[held == column.size].sum()):
            words = table.rows(
                f"left({cell.text}, 40), count(*) AS n",
                f"WHERE {code(column, cell)} = {column.size} "
                f"GROUP BY ALL ORDER BY n DESC, 1 LIMIT {_SHOWN}",
            )
            yield said(strange, looks=tuple(word for word, _ in words))
        if empty := int(weights[held > column.size].sum()):
            yield said(empty, empty=True, foreseen=column.has_gap_level)


# One row a person -----------------------------------------------------------------------------


def _persons(
    table: Relation, columns: Sequence[Column], person: Person, cells: dict[str, Cell]
) -> tuple[Weighted, tuple[Unforeseen, ...]]:
    """Return one row per person, which depends only on this person's rows and not on their order.

    A tie in the order counts as its lowest level, and so does a tie between the most frequent
    levels. If the table was made from levels and its rows name intervals by their labels, the
    highest one replaces a sum or count. A row without an id belongs to no person and is reported.
    """
    owner = Cell.of(table, person.id)
    small = f"isfinite({owner.number}) AND abs({owner.number}) < 9007199254740992"
    named = f"CASE WHEN {small} THEN CAST({owner.number} AS VARCHAR) ELSE {owner.text} END"
    inner = [f"CASE WHEN NOT {empty(owner.text)} THEN {named} END AS person", _order(table, person)]
    for j, column in enumerate(columns):
        if column.take in ADDED:
            cell = cells.get(column.name)
            labels = _words(column.labels[: len(column.points()) + 1])
            named = "NULL" if cell is None else f"CASE {_when(1, cell.text, labels)} END"
            inner += [f"{named} AS e{j}", f"{_amount(column, cell)} AS v{j}"]
        else:
            read = code(column, cells[column.name], rest=column.other_code or 0)
            inner.append(f"{read} AS e{j}")
    visits = f"(SELECT {', '.join(inner)} FROM {table.sql})"
    asked = f"SELECT count(*) FILTER (person IS NULL), count(*) FROM {visits}"
    [[nobody, total]] = table.con.execute(asked).fetchall()
    taken = ", ".join(f"{_taken(column, j)} AS a{j}" for j, column in enumerate(columns))
    one = f"(SELECT {taken} FROM {visits} WHERE person IS NOT NULL GROUP BY person)"
    terms = [partial("{1}::BIGINT * a{0}".format, j) for j in range(len(columns))]
    rows = _counted(table.con, columns, terms, one)
    left = Unforeseen(person.id, nobody, total, "nobody: left out", empty=True)
    return rows, (left,) * bool(nobody)


def _order(table: Relation, person: Person) -> str:
    """Return each row's position in its person's order: no value first, then number or date."""
    if person.order is None:
        return "0.0 AS place"
    cell = Cell.of(table, person.order)
    day = f"CASE WHEN isfinite(x) THEN x ELSE epoch({moment(cell.text, table.dialect.date)}) END"
    return f"coalesce({once(cell.number, day)}, '-infinity'::DOUBLE) AS place"


def _amount(column: Column, cell: Cell | None) -> str:
    """Return a row's part of its person's sum in whole millionths, exact for any order of rows."""
    if cell is None or column.take == "count":
        return "1"
    clipped = f"least(greatest({{}}, {-_MOST!r}::DOUBLE), {_MOST!r}::DOUBLE)".format
    other = column.other
    rest = clipped(f"{float(other)!r}::DOUBLE") if isinstance(other, int | float) else "NULL"
    value = f"CASE WHEN isfinite({cell.number}) THEN {clipped(cell.number)} ELSE {rest} END"
    return f"CAST({value} AS DECIMAL(38, 6))"


def _taken(column: Column, j: int) -> str:
    """Return the SQL that combines a person's rows; e are their codes and v their amounts."""
    other = column.other_code or 0
    if column.take in ("first", "last"):  # among rows at the same position, the lowest level
        sign = "-" if column.take == "last" else ""
        return f"min({{'place': {sign}place, 'code': e{j}}}).code"
    if column.take == "any":
        gap = other if column.has_gap_level else column.size
        return f"coalesce(max(e{j}) FILTER (e{j} <> {gap}), {gap})"
    if column.take == "most":
        often = [f"count(*) FILTER (e{j} = {i})" for i in range(column.size)]
        return f"list_position([{', '.join(often)}], greatest({', '.join(often)})) - 1"
    above = " + ".join(f"(sum(v{j})::DOUBLE >= {p!r}::DOUBLE)::INT" for p in column.points())
    return f"coalesce(max(e{j}), CASE WHEN count(v{j}) = 0 THEN {other} ELSE {above} END)"


# Numbers as they are --------------------------------------------------------------------------


def read_numbers(source: Any, monitor: Monitor = QUIET) -> tuple[np.ndarray, list[str], str]:
    """Return a table's numbers (n, d) in row order, NaN if missing; its names; and a label."""
    with opened(source, monitor=monitor) as table:
        names = [name for name in table.names if name]
        listed = ", ".join(f"{Cell.of(table, n).number} AS v{k}" for k, n in enumerate(names))
        found = table.con.execute(f"SELECT {listed} FROM {table.sql}").fetchnumpy()
        columns = [np.ma.filled(found[f"v{k}"].astype(float), np.nan) for k in range(len(names))]
        return np.column_stack(columns), names, table.label
