"""What the rows of a table look like, to propose a schema: exact facts, for their owner alone.

Nothing of it may be handed out or taken for declared. A person looks at it and states, from what
they know of the world and not of these rows, what the schema is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from engine.data.column import GAP_LEVELS, LEVEL, MAX_LEVELS, MISSING_LEVEL, Column, Dialect
from engine.data.intake import Cell, number
from engine.data.sources import Relation, opened
from engine.errors import DataError

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
    source: Any, *, query: str | None = None, **said: str | None
) -> tuple[tuple[Found, ...], Dialect]:
    """Every column with a name, and how text is written; DataError for what is no table."""
    dialect = Dialect(**{word: value for word, value in said.items() if value is not None})
    with opened(source, dialect, query) as table:
        found, table = look(table, source, guess="decimal" not in said)
        return found, table.dialect


def look(table: Relation, source: Any, *, guess: bool = True) -> tuple[tuple[Found, ...], Relation]:
    """Every column with a name; and the table, with the decimal sign that its numbers have."""
    [[rows]] = table.rows("count(*)")
    if rows < 2:
        held = "one row" if rows else "no rows"
        raise DataError(f"{table.label} has {held} of data below its header line; give at least 2.")
    if guess and _decimal_commas(table):
        table = table._replace(dialect=replace(table.dialect, decimal=","))
    ordered = {
        str(name): tuple(map(str, kind.categories))
        for name, kind in getattr(getattr(source, "dtypes", None), "items", tuple)()
        if getattr(kind, "ordered", False)
    }
    named = [name for name in table.names if name.strip()]
    return tuple(_look(table, name, rows, ordered.get(name, ())) for name in named), table


def _decimal_commas(table: Relation) -> bool:
    """Whether all cells of a column that are no numbers have a comma, which ends no cell there."""
    if table.delimiter not in (";", "\t"):
        return False
    for name in table.names:
        cell = Cell.of(table, name)
        commas = f"regexp_full_match({cell.text}, '[+-]?\\d*,\\d+([eE][+-]?\\d+)?')"
        wordy = f"try_cast({cell.text} AS DOUBLE) IS NULL AND NOT {cell.gap}"
        [[like, others]] = table.rows(f"count(*) FILTER ({commas}), count(*) FILTER ({wordy})")
        if 0 < others == like:
            return True
    return False


def _look(table: Relation, name: str, rows: int, ordered: tuple[str, ...]) -> Found:
    """What a column holds, from its distinct texts; ``ordered`` are the levels that it declares."""
    cell = Cell.of(table, name)
    table.con.execute(
        f"CREATE OR REPLACE TEMP TABLE words AS SELECT w, n, {number('w', table.dialect.decimal)} "
        "AS v, CASE WHEN contains(w, '-') THEN try_cast(w AS TIMESTAMP) END AS day FROM (SELECT "
        f"{cell.text} AS w, count(*) AS n FROM {table.sql} WHERE NOT {cell.gap} GROUP BY 1)"
    )
    [[held, distinct, least, most, numbers, whole, dates, first, last]] = table.con.execute(
        "SELECT coalesce(sum(n), 0)::BIGINT, count(*), min(n), max(n), count(*) FILTER "
        "(isfinite(v)), bool_and(v = floor(v)), count(day), min(day), max(day) FROM words"
    ).fetchall()
    numeric = numbers == distinct
    found = Found(name, "constant", distinct, rows - held)
    if 2 <= len(ordered) <= MAX_LEVELS:
        return replace(found, kind="ordered", levels=ordered)
    words: list[Any] = []
    if distinct <= 4 * MAX_LEVELS:
        words = table.con.execute(
            f"SELECT {'v' if numeric else 'lower(w)'}, first(w ORDER BY n DESC, w) FROM words "
            "GROUP BY 1 ORDER BY 1"
        ).fetchall()
        found = replace(found, distinct=len(words))
    if found.distinct < 2:
        return found
    if dates == distinct:
        return replace(found, kind="date", years=(first.year, last.year))
    each = held / distinct
    named = _ID.search(name) is not None and distinct > (MAX_LEVELS if numeric else FEW)
    evenly = each > 1.5 and (least == most or (not numeric and most < 4 * each))
    evenly = evenly and distinct > (FEW if numeric else MAX_LEVELS - 1)
    if (whole or not numeric) and (distinct == held >= _LEAST_UNIQUE or named or evenly):
        return replace(found, kind="id", rows_each=each)
    if words and len(words) <= (FEW if numeric else MAX_LEVELS - 1):
        kind = "ordered" if numeric else "unordered"
        return replace(found, kind=kind, levels=_levels(words, numeric))
    return (
        replace(found, kind="numeric", cuts=_cuts(table))
        if numeric
        else replace(found, kind="text")
    )


def _levels(words: Sequence[tuple[Any, str]], numeric: bool) -> tuple[str, ...]:
    """Of distinct values and their texts the levels: numbers ascending, words by name."""
    texts = [text for _, text in words]
    if not numeric:
        # Runs of digits by their value: x2 before x10.
        padded = {text: re.sub("[0-9]+", lambda run: run[0].zfill(20), text) for text in texts}
        return tuple(sorted(texts, key=lambda text: (padded[text].casefold(), text)))
    if sorted(map(str.lower, texts)) == ["false", "true"]:
        return "false", "true"
    whole = (value == int(value) and abs(value) < 2**53 for value, _ in words)
    return tuple(str(int(v)) if w else repr(v) for (v, _), w in zip(words, whole, strict=True))


def _cuts(table: Relation) -> tuple[float, ...]:
    """Points that cut a column's numbers into parts of about as many rows each."""
    found = table.con.execute("SELECT v, n FROM words ORDER BY v").fetchnumpy()
    values, below = found["v"], np.cumsum(found["n"])
    shares = np.arange(1, PARTS) / PARTS
    points = values[np.searchsorted(below, [*shares * below[-1], below[-1] / 2])]
    *rounded, middle = (float(f"{point:.3g}") for point in points)
    inner = tuple(cut for cut in sorted(set(rounded)) if values[0] < cut <= values[-1])
    return inner or (middle,)
