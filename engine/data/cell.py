"""A cell in SQL: its text, its number, and whether it is empty."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from engine.data.sources import Relation, bare, quoted, written

# Texts that stand for a missing value, in any case, unless a level has the same text.
GAPS = ("", "?", "na", "n/a", "nan", "null", "<na>", "nat", "#n/a")
_NUMBERS = re.compile(r"(U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|DOUBLE)$")


def moment(text: str, form: str | None = None) -> str:
    """Return the SQL of a text's date and time, in UTC if it has a zone; NULL if it is no date.

    A text that does not match the format ``form`` may be in ISO 8601.
    """
    plain = f"CAST(try_cast({text} AS TIMESTAMPTZ) AS TIMESTAMP)"
    return plain if form is None else f"coalesce(try_strptime({text}, {quoted(form)}), {plain})"


def number(text: str, decimal: str) -> str:
    """Return the SQL of a text's number (true is 1, false is 0); NULL or infinite if it is none."""
    words = f"CASE lower({text}) WHEN 'true' THEN 1.0 WHEN 'false' THEN 0.0 END"
    return f"coalesce({_double(text, decimal)}, {words})"


def once(cell: str, asked: str, called: str = "x") -> str:
    """Return the SQL of an expression in ``x``, the value of ``cell``, computed only once."""
    return f"list_transform([{cell}], lambda {called}: {asked})[1]"


def empty(text: str) -> str:
    """Return the SQL that tests whether a text stands for a missing value."""
    return f"(lower(coalesce({text}, '')) IN ({', '.join(map(quoted, GAPS))}))"


def _double(text: str, decimal: str) -> str:
    if decimal == ",":
        text = f"CASE WHEN contains({text}, '.') THEN NULL ELSE replace({text}, ',', '.') END"
    return f"CASE WHEN NOT contains({text}, '_') THEN try_cast({text} AS DOUBLE) END"


def _among(cell: str, codes: Sequence[Any], decimal: str) -> str:
    """Return the SQL that tests if a cell is one of these codes, as a number or in any case."""
    words = [str(code).strip().lower() for code in codes]
    numbers = (number(quoted(word.replace(".", decimal)), decimal) for word in words)
    found = f"lower(x) IN ({', '.join(map(quoted, words))})"
    same = f"coalesce({number('x', decimal)} IN ({', '.join(numbers)}), false)"
    return f"coalesce({once(bare(cell), f'{found} OR {same}')}, false)"


@dataclass(frozen=True)
class Cell:
    """The cells of one column in SQL: as stored, as text and as numbers.

    A column of numbers (``typed``) already has numbers. ``decimal`` is the table's decimal sign.
    """

    stored: str
    text: str
    number: str
    typed: bool
    decimal: str

    @classmethod
    def of(
        cls, table: Relation, name: str, part: str | None = None, missing: Sequence[Any] = ()
    ) -> Cell:
        """Return the cells of a table's column, or the part of its dates named by ``part``.

        A cell equal to one of the codes ``missing``, as text or as a number, counts as missing.
        """
        at = table.at(name)
        kind = table.types[at]
        sign = table.dialect.decimal
        stored = written(f"c{at}", kind, sign)
        plain = stored
        if missing:
            gone = _among("y", missing, sign)
            stored = once(stored, f"CASE WHEN {gone} THEN '' ELSE y END", "y")
        if part is not None:
            date = once(bare("z"), moment("x", table.dialect.date))
            stored = once(stored, f"coalesce(CAST({part}({date}) AS VARCHAR), z)", "z")
        # this SQL occurs only once in the text built from it
        long = bool(missing) or part is not None
        text = once(stored, bare("w"), "w") if long else bare(stored)
        typed = part is None and _NUMBERS.match(kind) is not None
        read = once(text, number("x", sign))
        if typed:
            read = f"CAST(c{at} AS DOUBLE)"
            if missing:
                read = f"CASE WHEN NOT {_among(plain, missing, sign)} THEN {read} END"
        elif not long:
            read = f"coalesce({_double(stored, sign)}, {read})"
        return cls(stored, text, read, typed, sign)
