"""What the rows of a table look like, to propose a schema: exact facts, for their owner alone.

Nothing of it may be handed out or taken for declared. A person looks at it and states, from what
they know of the world and not of these rows, what the schema is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from engine.data.column import GAP_LEVELS, LEVEL, MAX_LEVELS, MISSING_LEVEL, Column, Dialect
from engine.data.intake import GAPS, Cell, Relation, listed, number, opened, trimmed
from engine.errors import DataError, InputError

ROWS = 50_000  # that cut points are found in; levels are found in all rows
FEW = 10  # numbers with at most so many values are levels
PARTS = 5  # levels that more of them are proposed to be cut into
_LEAST_UNIQUE = 20  # rows from which all-different values look like an id
_ID = re.compile(r"(^|[^a-z])(id|ids|pid|nr|no|person|patient|subject|participant)([^a-z]|$)", re.I)


@dataclass(frozen=True)
class Found:
    """One column as found: how many values it has, which, and what it looks like.

    ``kind`` is "ordered" (few numbers, or categories that the table orders), "unordered" (few
    words), "numeric"; or what can be no levels: "id" (all different, or the same few times each:
    ``rows_each``), "date", "text" (too many words), "constant". ``levels`` are in order; ``cuts``
    part numbers into levels of about as many rows each.
    """

    name: str
    kind: str
    distinct: int
    missing: int
    levels: tuple[str, ...] = ()
    cuts: tuple[float, ...] = ()
    years: tuple[int, int] | None = None
    rows_each: float = 1.0

    def why_out(self) -> str | None:
        """Why it is left out, and what to do, as a clause; None where it is proposed."""
        if self.kind == "id" and self.rows_each > 1.5:
            return (
                f"it looks like an id, each with about {self.rows_each:.0f} rows: a person with "
                "rows that become one (by_person), or nothing of use"
            )
        first, last = self.years or (0, 0)
        return {
            "id": "its values are all different, as an id's are",
            "date": f"it is a date, from {first} to {last}, of which the year or the month can be "
            'stated (part="year")',
            "constant": "it holds one value only",
            "text": f"it is free text: more than {MAX_LEVELS} different ones, and not all numbers",
        }.get(self.kind)

    def proposed(self, **more: Any) -> Column | None:
        """What a schema's column would say of it, not stated; None where it can be no levels."""
        if self.why_out() is not None:
            return None
        if self.kind == "numeric":
            other: str | None = LEVEL if self.missing else None
            facts: dict[str, Any] = {"type": "numeric", "cuts": self.cuts, "other": other}
        else:
            levels, other = self.levels, None
            if self.missing:
                other = next((w for w in GAP_LEVELS if w in levels), MISSING_LEVEL)
                levels = (*(w for w in levels if w != other), other)
            facts = {"type": self.kind, "levels": levels, "other": other}
        return Column(name=self.name, **{**facts, "stated": False, **more})


def survey(
    source: Any,
    *,
    query: str | None = None,
    sheet: str | None = None,
    **said: str | None,
) -> tuple[tuple[Found, ...], Dialect]:
    """Every column with a name, and how text is written; DataError for what is no table."""
    if source is None:
        raise InputError("There is no table to look at: give a frame or the path of a file.")
    dialect = Dialect(**{word: value for word, value in said.items() if value is not None})
    with opened(source, dialect, query, sheet) as table:
        [[rows]] = table.rows("count(*)")
        if rows < 2:
            held = "one row" if rows else "no rows"
            raise DataError(
                f"{table.label} has {held} of data below its header line; give at least 2."
            )
        if said.get("decimal") is None and said.get("thousands") is None:
            dialect = _guessed(table, dialect)
        named = [name for name in table.names if name.strip()]
        return tuple(_look(table._replace(dialect=dialect), name, rows) for name in named), dialect


def _guessed(table: Relation, dialect: Dialect) -> Dialect:
    """How numbers are written, where all commas of a column say so."""
    comma, grouped = r"[+-]?\d*,\d+([eE][+-]?\d+)?", r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?"
    apart = any(f"delim='{sign}'" in table.sql for sign in ";\t")  # no comma ends a cell
    for k, kind in enumerate(table.types):
        if kind != "VARCHAR":
            continue
        text = trimmed(f"c{k}")
        gap = f"lower(coalesce({text}, '')) IN ({listed(GAPS)})"
        counts = [f"count(*) FILTER (regexp_full_match({text}, '{p}'))" for p in (comma, grouped)]
        counts.append(f"count(*) FILTER (try_cast({text} AS DOUBLE) IS NULL AND NOT ({gap}))")
        [[commas, groups, others]] = table.rows(", ".join(counts))
        if others and commas == others and (groups < others or apart):
            return replace(dialect, decimal=",")
        if others and groups == others:
            return replace(dialect, thousands=",")
    return dialect


def _look(table: Relation, name: str, rows: int) -> Found:
    """What a column holds, from its distinct texts where there are few and from counts else."""
    cell = Cell.of(table, name)
    moment = f"CASE WHEN contains({cell.text}, '-') THEN try_cast({cell.text} AS TIMESTAMP) END"
    held = f"FILTER (NOT {cell.gap})"
    [[missing, distinct, numbers, dates, first, last]] = table.rows(
        f"count(*) FILTER ({cell.gap}), approx_count_distinct({cell.text}) {held}, "
        f"count(*) FILTER (NOT {cell.gap} AND coalesce(isfinite({cell.number}), false)), "
        f"count({moment}) {held}, min({moment}), max({moment})"
    )
    held, whole = rows - missing, numbers == rows - missing
    found = Found(name, "constant", distinct, missing)
    if name in table.levels and len(table.levels[name]) in range(2, MAX_LEVELS + 1):
        return replace(found, kind="ordered", levels=tuple(table.levels[name]))
    words: list[Any] = []
    if distinct <= 4 * MAX_LEVELS:
        key = cell.number if whole else f"lower({cell.text})"
        words = table.con.execute(
            f"SELECT {key}, mode({cell.text} ORDER BY {cell.text}), count(*) FROM {table.sql} "
            f"WHERE NOT {cell.gap} GROUP BY 1 ORDER BY 1"
        ).fetchall()
        found = replace(found, distinct=len(words))
    if not held or len(words) == 1:
        return found
    if dates == held:
        return replace(found, kind="date", years=(first.year, last.year))
    if words and len(words) <= (FEW if whole else MAX_LEVELS - 1):
        named = len(words) > FEW and _ID.search(name) is not None
        if not whole and (named or len(words) == held >= _LEAST_UNIQUE):
            return replace(found, kind="id", rows_each=held / len(words))
        kind = "ordered" if whole else "unordered"
        return replace(found, kind=kind, levels=_levels(words, whole))
    return _many(table, replace(found, kind="text"), cell, held, whole)


def _levels(words: Sequence[Any], numbers: bool) -> tuple[str, ...]:
    """Of distinct values (number, text, count) the levels: numbers ascending, words by name."""
    texts = [str(text) for _, text, _ in words]
    if not numbers:
        return tuple(sorted(texts, key=natural_key))
    if sorted(map(str.lower, texts)) == ["false", "true"]:
        return "false", "true"
    small = (value == int(value) and abs(value) < 2**53 for value, _, _ in words)
    return tuple(
        str(int(value)) if whole else repr(value)
        for (value, _, _), whole in zip(words, small, strict=True)
    )


def _many(table: Relation, found: Found, cell: Cell, held: int, numbers: bool) -> Found:
    """A column of many values: an id, numbers to cut, or text."""
    each = (
        f"SELECT {cell.text} AS w, count(*) AS n FROM {table.sql} WHERE NOT {cell.gap} GROUP BY 1"
    )
    value = number("w", table.dialect)
    [[distinct, least, most, whole]] = table.con.execute(
        f"SELECT count(*), min(n), max(n), "
        f"coalesce(bool_and({value} = floor({value})), true) "
        f"FROM (SELECT * FROM ({each}) LIMIT 5000000)"
    ).fetchall()
    found = replace(found, distinct=distinct)
    alone = distinct == held >= _LEAST_UNIQUE and (not numbers or whole)
    evenly = held / distinct > 1.5 and (
        least == most or (not numbers and most < 4 * held / distinct)
    )
    named = bool(_ID.search(found.name)) and distinct > MAX_LEVELS
    if alone or (distinct > FEW and (named or evenly) and (not numbers or whole)):
        return replace(found, kind="id", rows_each=held / distinct)
    if not numbers:
        return found
    points = ", ".join(f"quantile_cont({cell.number}, {k / PARTS})" for k in range(1, PARTS))
    few = f"(SELECT * FROM {table.sql} LIMIT {ROWS})"
    columns = ", ".join(f"c{k}" for k in range(len(table.names)))
    asked = f"SELECT min({cell.number}), max({cell.number}), median({cell.number}), {points} "
    [[low, high, middle, *cuts]] = table.con.execute(
        f"{asked} FROM {few} t({columns}) WHERE isfinite({cell.number})"
    ).fetchall()
    rounded = sorted({float(f"{point:.3g}") for point in cuts})
    inner = tuple(cut for cut in rounded if low < cut <= high) or (float(middle),)
    return replace(found, kind="numeric", cuts=inner)


def natural_key(text: str) -> tuple[list[Any], str]:
    """Sort key: upper and lower case alike, runs of digits by their value ("x2" < "x10")."""
    parts: list[Any] = re.split("([0-9]+)", text.casefold())
    # Digit runs compare as (length, digits): their value, without converting huge numbers.
    for k in range(1, len(parts), 2):
        run = parts[k].lstrip("0")
        parts[k] = len(run), run
    return parts, text
