"""A cell in SQL: its text, its number, and whether it is empty."""

from __future__ import annotations

import re
from dataclasses import dataclass

from engine.data.sources import Relation, quoted, written

# Cells that stand for none, in any case; a level of the same text is that level all the same.
GAPS = ("", "?", "na", "n/a", "nan", "null", "<na>", "nat", "#n/a")
_BLANKS = "".join(map(chr, (*range(9, 14), *range(28, 33), 0x85, 0xA0, *range(0x2000, 0x200B))))
BLANKS = f"{_BLANKS}\u2028\u2029\u202f\u205f\u3000\ufeff"
_NUMBERS = re.compile(r"(U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|DOUBLE)$")


def bare(cell: str) -> str:
    """The SQL of a cell's text without the blanks around it; most have none, and ask for less."""
    ends = f"ascii({cell}) BETWEEN 33 AND 126 AND ascii(right({cell}, 1)) BETWEEN 33 AND 126"
    return f"(CASE WHEN {ends} THEN {cell} ELSE trim({cell}, {quoted(BLANKS)}) END)"


def moment(text: str) -> str:
    """The SQL of a text's date and time, in UTC where it has a zone; NULL where it is none."""
    return f"CAST(try_cast({text} AS TIMESTAMPTZ) AS TIMESTAMP)"


def number(text: str, decimal: str) -> str:
    """The SQL of a text's number, true being 1 and false 0; NULL or not finite where it is none."""
    words = f"CASE lower({text}) WHEN 'true' THEN 1.0 WHEN 'false' THEN 0.0 END"
    return f"coalesce({_double(text, decimal)}, {words})"


def once(cell: str, asked: str) -> str:
    """The SQL of what is asked of ``x``, which is the SQL of a cell and is computed once."""
    return f"list_transform([{cell}], lambda x: {asked})[1]"


def empty(text: str) -> str:
    """The SQL of whether a text stands for none."""
    return f"(lower(coalesce({text}, '')) IN ({', '.join(map(quoted, GAPS))}))"


def _double(text: str, decimal: str) -> str:
    if decimal == ",":
        text = f"CASE WHEN contains({text}, '.') THEN NULL ELSE replace({text}, ',', '.') END"
    return f"try_cast({text} AS DOUBLE)"


@dataclass(frozen=True)
class Cell:
    """One column's cells in SQL: as they are stored, as text, as numbers.

    Of a column of numbers (``typed``) they are at hand. ``decimal`` is the table's decimal sign.
    """

    stored: str
    text: str
    number: str
    typed: bool
    decimal: str

    @classmethod
    def of(cls, table: Relation, name: str, part: str | None = None) -> Cell:
        """Of a table's column; ``part`` of its dates in their place where it is named."""
        at = table.at(name)
        kind = table.types[at]
        sign = table.dialect.decimal
        stored = written(f"c{at}", kind, sign)
        if part is not None:
            stored = f"coalesce(CAST({part}({moment(stored)}) AS VARCHAR), {stored})"
        text = bare(stored)
        typed = part is None and _NUMBERS.match(kind) is not None
        worded = once(text, number("x", sign))
        read = f"CAST(c{at} AS DOUBLE)" if typed else f"coalesce({_double(stored, sign)}, {worded})"
        return cls(stored, text, read, typed, sign)
