"""A cell in SQL: its text, its number, and whether it is empty."""

from __future__ import annotations

import re
from dataclasses import dataclass

from engine.data.sources import Relation, quoted

# Cells that stand for none, in any case; a level of the same text is that level all the same.
GAPS = ("", "?", "na", "n/a", "nan", "null", "<na>", "nat", "#n/a")
_BLANKS = "".join(map(chr, (*range(9, 14), *range(28, 33), 0x85, 0xA0, *range(0x2000, 0x200B))))
BLANKS = f"{_BLANKS}\u2028\u2029\u202f\u205f\u3000\ufeff"
_NUMBERS = re.compile(r"(U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|DOUBLE)$")


def trimmed(cell: str) -> str:
    """The SQL of a cell's text without the blanks around it."""
    return f"trim({cell}, {quoted(BLANKS)})"


def bare(cell: str) -> str:
    """The same, quicker where there are no blanks, in longer SQL: for what all rows are asked."""
    ends = f"ascii({cell}) BETWEEN 33 AND 126 AND ascii(right({cell}, 1)) BETWEEN 33 AND 126"
    return f"(CASE WHEN {ends} THEN {cell} ELSE {trimmed(cell)} END)"


def moment(text: str) -> str:
    """The SQL of a text's date and time, in UTC where it has a zone; NULL where it is none."""
    return f"CAST(try_cast({text} AS TIMESTAMPTZ) AS TIMESTAMP)"


def number(text: str, decimal: str) -> str:
    """The SQL of a text's number, true being 1 and false 0; NULL or not finite where it is none."""
    words = f"CASE lower({text}) WHEN 'true' THEN 1.0 WHEN 'false' THEN 0.0 END"
    return f"coalesce({_double(text, decimal)}, {words})"


def _double(text: str, decimal: str) -> str:
    if decimal == ",":
        text = f"CASE WHEN contains({text}, '.') THEN NULL ELSE replace({text}, ',', '.') END"
    return f"try_cast({text} AS DOUBLE)"


@dataclass(frozen=True)
class Cell:
    """One column's cells in SQL: as they are stored, as text, as numbers, and which are empty.

    ``decimal`` is the sign that its numbers have.
    """

    stored: str
    text: str
    number: str
    gap: str
    decimal: str

    @classmethod
    def of(cls, table: Relation, name: str, part: str | None = None) -> Cell:
        """Of a table's column; ``part`` of its dates in their place where it is named."""
        at = table.at(name)
        kind = table.types[at]
        stored = f"c{at}" if kind == "VARCHAR" else f"CAST(c{at} AS VARCHAR)"
        if part is not None:
            stored = f"coalesce(CAST({part}({moment(stored)}) AS VARCHAR), {stored})"
        text = trimmed(stored)
        typed = part is None and _NUMBERS.match(kind)
        decimal = table.dialect.decimal
        value = f"CAST(c{at} AS DOUBLE)"
        if not typed:  # few need to be trimmed
            sign = decimal if kind == "VARCHAR" else "."
            value = f"coalesce({_double(stored, sign)}, {number(text, sign)})"
        gap = f"(lower(coalesce({bare(stored)}, '')) IN ({', '.join(map(quoted, GAPS))}))"
        return cls(stored, text, value, gap, decimal)
