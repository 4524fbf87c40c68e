"""What the rows of a table look like, to propose a schema: exact facts, for their owner alone.

Nothing of it may be handed out or taken for declared. A person looks at it and states, from what
they know of the world and not of these rows, what the schema is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from engine.data.cell import Cell, bare, empty, moment, number
from engine.data.column import GAP_LEVELS, LEVEL, MAX_LEVELS, MOST_TEXT, PLAIN, Column, Dialect
from engine.data.sources import Relation, opened
from engine.errors import DataError

FEW = 10  # numbers with at most so many values are levels
PARTS = 5  # levels that more of them are proposed to be cut into, by as many of the rows each
_AT_ONCE = 8  # columns whose texts are counted by one pass, and held at once
_LEAST_UNIQUE = 20  # rows from which all-different values look like an id
_ID = re.compile(r"(^|[^a-z])(id|ids|pid|nr|no|person|patient|subject|participant)([^a-z]|$)", re.I)


@dataclass(frozen=True)
class Found:
    """One column as found: how many values it has, how many cells are empty, and what to state.

    ``column`` is proposed, not stated: "ordered" levels (few numbers, or categories that the table
    orders), "unordered" ones (few words), or numbers and cut points. Of an id, a date (of these
    ``years``), free text and a constant there is none, and ``why_out`` says why, and what to do.
    """

    name: str
    distinct: int
    missing: int
    column: Column | None = None
    why_out: str = ""
    years: tuple[int, int] | None = None


def survey(
    source: Any, *, query: str | None = None, **said: str | None
) -> tuple[tuple[Found, ...], Dialect]:
    """Every column with a name, and how text is written; DataError for what is no table."""
    with opened(source, PLAIN.said(said), query) as table:
        found, table = look(table, source, guess="decimal" not in said)
        return found, table.dialect


def look(table: Relation, source: Any, *, guess: bool = True) -> tuple[tuple[Found, ...], Relation]:
    """Every column with a name; and the table, with the decimal sign that its numbers have."""
    [[rows]] = table.rows("count(*)")
    if rows < 2:
        held = "one row" if rows else "no rows"
        raise DataError(f"{table.label} has {held} of data below its header line; give at least 2.")
    if guess and table.delimiter in (";", "\t") and _decimal_commas(table):
        table = table._replace(dialect=replace(table.dialect, decimal=","))
    # Those of a pandas frame.
    kinds: Any = getattr(getattr(source, "dtypes", None), "items", tuple)()
    known = dict(zip(table.names, (kind for _, kind in kinds), strict=False))
    names, found = [name for name in table.names if name], []
    for first in range(0, len(names), _AT_ONCE):
        part = names[first : first + _AT_ONCE]
        for name, facts in zip(part, _facts(table, part), strict=True):
            found.append(_look(table, name, facts, rows, known.get(name)))
    return tuple(found), table


def _decimal_commas(table: Relation) -> bool:
    """Whether all cells of a column that are no numbers have a comma, which ends no cell there."""
    cells = [Cell.of(table, name) for name in table.names]
    commas = (
        f"bool_and(regexp_full_match({cell.text}, '[+-]?\\d*,\\d+([eE][+-]?\\d+)?')) "
        f"FILTER (try_cast({cell.text} AS DOUBLE) IS NULL AND NOT {empty(cell.text)})"
        for cell in cells
    )
    return any(table.rows(", ".join(commas))[0])


def _facts(table: Relation, names: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    """A line a column, of its texts, which one pass over the table counts."""
    cells = ", ".join(f"{Cell.of(table, name).stored} AS s{j}" for j, name in enumerate(names))
    each = ", ".join(f"s{j}" for j in range(len(names)))
    place = ", ".join(f"grouping(s{j})" for j in range(len(names)))
    table.con.execute(
        "CREATE OR REPLACE TEMP TABLE words AS SELECT j, w, sum(n)::BIGINT AS n, "
        f"{number('w', table.dialect.decimal)} AS v, "
        f"CASE WHEN contains(w, '-') THEN {moment('w')} END AS day FROM "
        f"(SELECT list_position([{place}], 0) - 1 AS j, {bare(f'coalesce({each})')} AS w, "
        f"count(*) AS n FROM (SELECT {cells} FROM {table.sql}) GROUP BY GROUPING SETS ({each})) "
        f"WHERE NOT {empty('w')} GROUP BY j, w"
    )
    yield from table.con.execute(
        "SELECT j, coalesce(sum(n), 0)::BIGINT, count(w), min(n), max(n), count(w) = count(*) "
        "FILTER (isfinite(v)), bool_and(v = floor(v)), count(w) = count(day), max(length(w)), "
        f"year(min(day)), year(max(day)) FROM range({len(names)}) r(j) LEFT JOIN words USING (j) "
        "GROUP BY j ORDER BY j"
    ).fetchall()


def _look(table: Relation, name: str, facts: tuple[Any, ...], rows: int, known: Any) -> Found:
    """What a column holds; ``known`` is its categorical type, if any."""
    if len(name) > MOST_TEXT:
        return Found(name, 0, 0, why_out=f"its name has more than {MOST_TEXT} characters")
    place, held, distinct, least, most, numeric, whole, dates, long, *years = facts
    words = table.con.execute(
        f"SELECT {'v' if numeric else 'lower(w)'}, first(w ORDER BY n DESC, w) FROM words "
        f"WHERE j = {place} AND {distinct <= 4 * MAX_LEVELS} GROUP BY 1 ORDER BY 1"
    ).fetchall()
    few = len(words) or distinct
    found = partial(Found, name, few, rows - held)

    def stated(kind: str, levels: tuple[str, ...] = (), cuts: tuple[float, ...] = ()) -> Found:
        other = LEVEL if rows > held else None
        if other and levels:
            other = next((word for word in GAP_LEVELS if word in levels), GAP_LEVELS[0])
            levels = (*(word for word in levels if word != other), other)
        return found(
            Column(name=name, type=kind, levels=levels, cuts=cuts, other=other, stated=False)
        )

    categories = tuple(map(str, getattr(known, "categories", ())))
    if getattr(known, "ordered", False) and 2 <= len(categories) < MAX_LEVELS:
        return stated("ordered", categories)
    if few + (rows > held) < 2 or not few:
        return found(why_out="it holds one value only" if few else "it is empty")
    if dates:
        asked = 'of which the year or the month can be stated (part="year")'
        why = f"it is a date, from {years[0]} to {years[1]}, {asked}"
        return found(why_out=why, years=tuple(years))
    each = held / distinct
    named = _ID.search(name) is not None and distinct > (MAX_LEVELS if numeric else FEW)
    evenly = each > 1.5 and (least == most or (not numeric and most < 4 * each))
    evenly = evenly and distinct > (FEW if numeric else MAX_LEVELS - 1)
    if (whole or not numeric) and (distinct == held >= _LEAST_UNIQUE or named or evenly):
        person = "a person with rows that become one (by_person), or nothing of use"
        many = f"it looks like an id, each with about {each:.0f} rows: {person}"
        return found(why_out=many if each > 1.5 else "its values are all different, as an id's are")
    if words and len(words) <= (FEW if numeric else MAX_LEVELS - 1) and long <= MOST_TEXT:
        levels = _levels(words, numeric, categories, table.dialect.decimal)
        return stated("ordered" if numeric else "unordered", levels)
    if numeric:
        return stated("numeric", cuts=_cuts(table, place))
    return found(why_out="it is free text: too many different ones, or long ones")


def _levels(
    words: Sequence[tuple[Any, str]], numeric: bool, categories: Sequence[str], decimal: str
) -> tuple[str, ...]:
    """Of distinct values and their texts the levels: numbers ascending, words by name.

    Words that are the table's categories have their order; numbers are written as the table's are.
    """
    texts = {text for _, text in words}
    if not numeric:
        # Runs of digits by their value: x2 before x10.
        padded = {text: re.sub("[0-9]+", lambda run: run[0].zfill(20), text) for text in texts}
        listed = [text for text in categories if text in texts]
        rest = sorted(texts - {*listed}, key=lambda text: (padded[text].casefold(), text))
        return (*listed, *rest)
    if {text.lower() for text in texts} == {"false", "true"}:
        return "false", "true"
    return tuple(
        str(int(v)) if v == int(v) and abs(v) < 2**53 else repr(v).replace(".", decimal)
        for v, _ in words
    )


def _cuts(table: Relation, place: int) -> tuple[float, ...]:
    """Points that cut a column's numbers into parts of about as many rows each."""
    asked = f"SELECT v, n FROM words WHERE j = {place} ORDER BY v"
    values, counts = table.con.execute(asked).fetchnumpy().values()
    below = np.cumsum(counts)
    marks = below[-1] * np.array([*range(1, PARTS), PARTS / 2]) / PARTS
    *points, middle = (float(f"{v:.3g}") for v in values[np.searchsorted(below, marks)])
    return tuple(cut for cut in sorted({*points}) if values[0] < cut <= values[-1]) or (middle,)
