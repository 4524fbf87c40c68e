"""Summarise the rows of a table to propose a schema: exact facts, only for their owner.

The proposal must not leave the machine, and it is not declared. A person examines it and declares
the schema from knowledge other than these rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_FLOOR, Decimal
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from engine.data.cell import Cell, empty, moment, number
from engine.data.column import (
    DATES,
    GAP_LEVELS,
    LEVEL,
    MAX_LEVELS,
    MOST_RELEASED,
    MOST_TEXT,
    PLAIN,
    Column,
    Dialect,
)
from engine.data.sources import Relation, bare, opened, quoted
from engine.errors import DataError, show
from engine.monitor import QUIET, Monitor

FEW = 10  # numbers with at most this many different values become levels
PARTS = 5  # levels proposed for other numbers, with about equally many rows each
SLACK = 1 / (4 * PARTS)  # share by which a part may deviate, so that cuts have few digits
OWN = 1 / 3  # a value with this share of the rows is a separate level
ODD = 20  # different words that may occur among numbers
_FORMATS = (None, *DATES)
_AT_ONCE = 8  # columns whose texts are counted in one pass and held in memory together
_LEAST_UNIQUE = 20  # smallest number of rows for which different values look like an id
_ID = re.compile(r"(^|[^a-z])(id|ids|pid|nr|no|person|patient|subject|participant)([^a-z]|$)", re.I)
_WEIGHT = re.compile(r"(^|[^a-z])(weights?|wgt|wt|[a-z]*wei?ght?|pw)([^a-z]|$)", re.I)
# Numbers that often stand for a missing answer: -9, 99, -777.
_CODES = (
    *range(-9, 0),
    *(sign * int(d * k) for sign in (-1, 1) for d in "789" for k in range(1, 7)),
)


@dataclass(frozen=True)
class Found:
    """The facts inferred about one column: values, missing cells and a proposal.

    ``column`` is proposed, not declared: "ordered" levels (few numbers, or categories that the
    table orders), "unordered" levels (few words), or numbers with cut points. It is None for an id,
    a date (which has ``years``, in the format ``date``), free text and a constant; ``why_out``
    gives the reason and a remedy, and ``call`` the argument or method for this remedy. ``hint``
    names other points to check, and ``repeats`` is the number of rows with the most frequent value.
    """

    name: str
    distinct: int
    missing: int
    column: Column | None = None
    why_out: str = ""
    call: str = ""
    years: tuple[int, int] | None = None
    date: str | None = None
    hint: str = ""
    repeats: int = 0

    @property
    def left_out(self) -> str:
        """The reason and the remedy with its call, for Python and the command line."""
        return f"{self.why_out} ({self.call})" if self.call else self.why_out


def survey(
    source: Any,
    *,
    query: str | None = None,
    missing: Sequence[Any] = (),
    monitor: Monitor = QUIET,
    **said: str | None,
) -> tuple[tuple[Found, ...], Dialect]:
    """Return every column with a name, and the dialect of text, or raise DataError without a table.

    ``missing`` lists codes that mean a missing value in any column.
    """
    with opened(source, PLAIN.said(said), query, monitor=monitor) as table:
        found, table = look(table, guess="decimal" not in said, missing=missing)
        return found, table.dialect


def look(
    table: Relation, *, guess: bool = True, missing: Sequence[Any] = ()
) -> tuple[tuple[Found, ...], Relation]:
    """Return every named column, and the table with its decimal sign and date format."""
    [[rows]] = table.rows("count(*)")
    if rows < 2:
        held = "one row" if rows else "no rows"
        raise DataError(f"{table.label} has {held} of data below its header line; give at least 2.")
    if guess and table.delimiter in (";", "\t") and _decimal_commas(table):
        table = table._replace(dialect=replace(table.dialect, decimal=","))
    names, found = [name for name in table.names if name], []
    known = table.categories()
    for first in range(0, len(names), _AT_ONCE):
        part = names[first : first + _AT_ONCE]
        for name, facts in zip(part, _facts(table, part, missing), strict=True):
            found.append(_look(table, name, facts, rows, known.get(name, ((), False))))
    for k, name in enumerate(table.names, 1):
        if not name:
            found.append(Found(f"column {k}", 0, 0, why_out="it has no name in the header line"))
    dates = {one.date for one in found if one.date}
    if len(dates) == 1:
        table = table._replace(dialect=replace(table.dialect, date=dates.pop()))
    return tuple(found), table


def _decimal_commas(table: Relation) -> bool:
    """Return whether some column's cells are all numbers if a comma is a decimal sign."""
    cells = [Cell.of(table, name) for name in table.names]
    commas = (
        f"bool_and(regexp_full_match({cell.text}, '[+-]?\\d*,\\d+([eE][+-]?\\d+)?')) "
        f"FILTER (try_cast({cell.text} AS DOUBLE) IS NULL AND NOT {empty(cell.text)})"
        for cell in cells
    )
    return any(table.rows(", ".join(commas))[0])


class _Facts(NamedTuple):
    """The facts about a column's texts from one pass over a table, by the column's position."""

    place: int
    held: int  # cells that are not empty
    texts: int  # different texts
    numbers: int  # different texts that are numbers
    strange: int  # cells that are not numbers
    least: int  # rows with the least frequent text
    most: int
    whole: bool  # all numbers are whole
    long: int  # characters in the longest text
    # first and last year if every text is a date, per format in _FORMATS
    spans: list[list[int] | None]


def _facts(table: Relation, names: Sequence[str], missing: Sequence[Any]) -> Iterator[_Facts]:
    """Yield the facts about each column; whole numbers too large for a float count as words."""
    stored = (Cell.of(table, name, missing=missing).stored for name in names)
    cells = ", ".join(f"{cell} AS s{j}" for j, cell in enumerate(stored))
    each = ", ".join(f"s{j}" for j in range(len(names)))
    place = ", ".join(f"grouping(s{j})" for j in range(len(names)))
    like = "length(w) BETWEEN 8 AND 10 AND regexp_full_match(w, '\\d+[-./]\\d+[-./]\\d+')"
    forms = ", ".join(f"try_strptime(w, {quoted(form)})" for form in _FORMATS[1:])
    days = f"CASE WHEN v IS NULL AND (contains(w, '-') OR {like}) THEN [{moment('w')}, {forms}] END"
    table.con.execute(
        "CREATE OR REPLACE TEMP TABLE words AS SELECT * REPLACE (CASE WHEN isfinite(v) AND NOT "
        "(abs(v) >= 9007199254740992 AND regexp_full_match(w, '[+-]?\\d+')) THEN v END AS v), "
        f"{days} AS days FROM "
        f"(SELECT j, w, sum(n)::BIGINT AS n, {number('w', table.dialect.decimal)} AS v "
        "FROM "
        f"(SELECT list_position([{place}], 0) - 1 AS j, {bare(f'coalesce({each})')} AS w, "
        f"count(*) AS n FROM (SELECT {cells} FROM {table.sql}) GROUP BY GROUPING SETS ({each})) "
        f"WHERE NOT {empty('w')} GROUP BY j, w)"
    )
    spans = (
        f"CASE WHEN count(days[{k}]) = count(w) THEN [year(min(days[{k}])), year(max(days[{k}]))] "
        "END" for k in range(1, len(_FORMATS) + 1)
    )  # fmt: skip
    found = table.con.execute(
        "SELECT j, coalesce(sum(n), 0)::BIGINT, count(w), count(v), coalesce(sum(n) FILTER (v IS "
        "NULL), 0)::BIGINT, min(n), max(n), bool_and(v = floor(v)), max(length(w)), "
        f"[{', '.join(spans)}] FROM range({len(names)}) r(j) LEFT JOIN words USING (j) GROUP BY j "
        "ORDER BY j"
    )
    yield from (_Facts(*row) for row in found.fetchall())


def _words(table: Relation, place: int, asked: str) -> list[Any]:
    """Return the columns of a query on one column's texts w, their numbers v and counts n."""
    found = table.con.execute(asked.format(f"FROM words WHERE j = {place}")).fetchnumpy()
    return list(found.values())


def _look(
    table: Relation, name: str, facts: _Facts, rows: int, known: tuple[tuple[str, ...], bool]
) -> Found:
    """Describe a column; ``known`` has its categories and says whether they are ordered."""
    if len(name) > MOST_TEXT:
        return Found(name, 0, 0, why_out=f"its name has more than {MOST_TEXT} characters")
    place, held, odd = facts.place, facts.held, facts.texts - facts.numbers
    mixed = odd <= ODD and facts.numbers > FEW and facts.strange <= held / 2
    numeric = bool(facts.numbers and (not odd or mixed))
    codes: list[str] = []
    if numeric:
        values, counts = _words(
            table, place, "SELECT v, sum(n)::BIGINT AS n {} AND v IS NOT NULL GROUP BY v ORDER BY v"
        )
        [strange] = _words(table, place, "SELECT w {} AND v IS NULL ORDER BY n DESC, w")
        few, codes = len(values), strange.tolist()
    else:
        asked = "SELECT lower(w) AS l, first(w ORDER BY n DESC, w) AS w {} GROUP BY 1 ORDER BY 1"
        _, words = _words(table, place, asked) if facts.texts <= 4 * MAX_LEVELS else ((), ())
        few = len(words) or facts.texts
    gaps = rows - held + (facts.strange if numeric else 0)
    found = partial(Found, name, few, gaps, repeats=facts.most or 0)
    categories, ordered = known
    ready = ordered and 2 <= len(categories) < MAX_LEVELS
    if not ready and (why := _why_out(table, name, facts, few, gaps, numeric)):
        return found(**why)
    if ready:
        kind, levels, hints = "ordered", categories, []
    elif numeric:
        kind, hints = "numeric", _hints(codes, values, counts, facts)
        if few <= FEW:
            kind, levels = "ordered", _numbered(values.tolist(), table.dialect.decimal)
            if levels == ("0", "1") and facts.long == len("false"):
                levels = "false", "true"
        elif _WEIGHT.search(name) and not facts.whole and 0.2 < np.average(values, 0, counts) < 5:
            said = "it looks like a survey weight, which no method here uses"
            return found(why_out=f"{said}; declare its cuts if it is a quantity")
    elif len(words) and few < MAX_LEVELS and facts.long <= MOST_TEXT:
        kind, levels, hints = "unordered", _sorted(words, categories), []
    else:
        return found(why_out=_free(table, facts, few))
    cuts = _cuts(values, counts, facts.whole) if kind == "numeric" else ()
    levels, other = () if cuts else levels, LEVEL if gaps and cuts else None
    if gaps and levels:
        other = next((word for word in GAP_LEVELS if word in levels), GAP_LEVELS[0])
        levels = (*(word for word in levels if word != other), other)
    if len(levels) > MOST_RELEASED:
        hints.append(f"it has {len(levels)} levels and a release takes {MOST_RELEASED}: group them")
    column = Column(
        name=name, type=kind, levels=levels, cuts=cuts, other=other, declared=False,
        missing=tuple(codes) or None,
    )  # fmt: skip
    return found(column, hint="; ".join(hints))


def _why_out(
    table: Relation, name: str, facts: _Facts, few: int, gaps: int, numeric: bool
) -> dict[str, Any]:
    """Return the fields of :class:`Found` for a column that cannot have levels, {} for others."""
    texts, held, most = facts.texts, facts.held, facts.most
    if few + (gaps > 0) < 2 or not few:
        return {"why_out": "it holds one value only" if few else "it is empty"}
    fits = [k for k, span in enumerate(facts.spans) if span]
    if fits:
        first, last = facts.spans[fits[0]] or (0, 0)
        form = _FORMATS[fits[0]]
        said = f" written as {form}" if form else ""
        said += f" (or {_FORMATS[fits[1]]})" if form and fits[1:] else ""
        said = f"it is a date{said}, from {first} to {last}, whose year or month can be declared"
        return {"why_out": said, "call": 'part="year"', "years": (first, last), "date": form}
    repeated = held > 1.5 * texts
    if numeric:  # consecutive rows with one value belong to one person
        many, named = texts > MAX_LEVELS, texts > FEW and bool(_ID.search(name))
        sure = named and (many or facts.least == most)
        sure = sure or (many and repeated and most < held / 10 and _in_blocks(table, name, held))
    else:
        named = bool(_ID.search(name)) and texts > FEW
        evenly = repeated and (facts.least == most or most * texts < 4 * held)
        sure = named or (evenly and texts >= MAX_LEVELS)
    if (facts.whole or not numeric) and (texts == held >= _LEAST_UNIQUE or sure):
        if repeated:
            said = f"it looks like an id, each with about {held / texts:.0f} rows, at most {most}"
            said += ": declare it as the person, or leave it out"
            return {"why_out": said, "call": "by_person"}
        return {"why_out": f"its values are all different ({texts:,}) as in an id"}
    return {}


def _in_blocks(table: Relation, name: str, held: int) -> bool:
    """Return whether most rows have the same value as the row before them."""
    cell = Cell.of(table, name).text
    [[same]] = table.con.execute(
        f"SELECT count(*) FILTER (x = y) FROM (SELECT {cell} AS x, lag({cell}) OVER () AS y FROM "
        f"{table.sql})"
    ).fetchall()
    return bool(same > held / 2)


def _hints(
    codes: Sequence[str], values: np.ndarray, counts: np.ndarray, facts: _Facts
) -> list[str]:
    """List the points to examine before a column of numbers is declared."""
    hints = []
    if codes:
        more = " …" if codes[3:] else ""
        hints.append(f"not numbers, proposed as missing: {', '.join(map(show, codes[:3]))}{more}")
    odd = np.isin(values, _CODES)
    low, *_, high = [*values[~odd][[0, -1]]] if not odd.all() else (-np.inf, np.inf)
    for value, n in zip(values[odd], counts[odd], strict=True):
        far = max(low - value, value - high) > (high - low) / 4 or value < 0 <= low
        if n > 1 and far:
            hints.append(
                f"{value:g} ({n:,} rows) is far from the other values: a code for missing?"
            )
    spread = len(values) > MAX_LEVELS and facts.most < facts.held / 10
    if facts.whole and spread and facts.held > 1.5 * len(values):
        hints.append(f"up to {facts.most} rows share one value: are they one person's?")
    return hints


def _free(table: Relation, facts: _Facts, few: int) -> str:
    """Explain why a column is free text."""
    if facts.long > MOST_TEXT:
        return f"it is free text: one value has {facts.long:,} characters"
    said = f"it is free text: {few:,} different values, and at most {MAX_LEVELS - 1} can be levels"
    if facts.numbers:
        [words] = _words(table, facts.place, "SELECT w {} AND v IS NULL ORDER BY n DESC, w LIMIT 1")
        said += f"; {facts.texts - facts.numbers:,} are not numbers, such as {show(words[0])}"
    return said


def _sorted(words: Sequence[str], categories: Sequence[str]) -> tuple[str, ...]:
    """Sort texts by name, or by the order of the table's categories.

    Digits are compared by value: x2 before x10.
    """
    padded = {text: re.sub("[0-9]+", lambda run: run[0].zfill(20), text) for text in words}
    listed = [text for text in categories if text in padded]
    rest = sorted(padded.keys() - {*listed}, key=lambda text: (padded[text].casefold(), text))
    return (*listed, *rest)


def _numbered(values: Sequence[float], decimal: str) -> tuple[str, ...]:
    """Return numbers as levels, written in the table's style."""
    return tuple(
        str(int(v)) if v == int(v) and abs(v) < 2**53 else repr(v).replace(".", decimal)
        for v in values
    )


def _cuts(values: np.ndarray, counts: np.ndarray, whole: bool) -> tuple[float, ...]:
    """Return cut points, each with the fewest digits that separate the neighbouring values.

    A value with many rows is a separate level; the others are divided into parts with about equally
    many rows.
    """
    own = np.flatnonzero(counts >= OWN * counts.sum())
    rest = counts.astype(float)
    rest[own] = 0
    share = rest.sum() / counts.sum()
    rest = np.concatenate([[0], np.cumsum(rest)]) / (rest.sum() or 1)
    found: dict[int, float] = {}  # keys: the number of values below the cut

    def cut(low: int, high: int, next_: bool = False) -> None:
        """Add a cut between two positions, unless one exists or all values are on one side."""
        if 0 < low <= high < len(values) and not any(k in found for k in range(low, high + 1)):
            point = _short(values[low - 1], values[high], next_ and whole)
            found[int(np.searchsorted(values, point))] = point

    for k in own.tolist():
        cut(k, k)
        cut(k + 1, k + 1, next_=True)
    parts = max(2, round(PARTS * share)) if share else 1
    for part in range(1, parts):
        off = np.abs(rest - part / parts)
        near = np.flatnonzero(off <= max(SLACK, off.min()))
        cut(int(near[0]), int(near[-1]))
    if not found:
        cut(len(values) // 2, len(values) // 2)
    return tuple(found[k] for k in sorted(found))


def _short(low: float, high: float, whole: bool) -> float:
    """Return the number with the fewest digits in (``low``, ``high``]; if ``whole`` ``low`` + 1."""
    if whole:
        return float(low + 1)
    top, least = Decimal(repr(float(high))), Decimal(repr(float(low)))
    for place in range(max(top.adjusted(), least.adjusted()), -330, -1):
        point = float(top.quantize(Decimal(1).scaleb(place), ROUND_FLOOR))
        if point > low:
            return point
    return float(high)
