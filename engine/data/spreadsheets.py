"""Text in a CSV file that no spreadsheet takes for a formula.

A spreadsheet computes a cell that begins with = + - or @ (or with a tab or a carriage return before
one), also one that calls a program. Such a cell gets an apostrophe in front; so does one that
begins with an apostrophe, so that taking one apostrophe off gives every text back. Plain numbers
and a sign alone are no formulas and stay as they are.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from engine.data.column import PLAIN, Dialect

if TYPE_CHECKING:
    import pandas as pd

_RISKY = ("=", "+", "-", "@", "\t", "\r", "\n", "'", "\uff1d", "\uff0b", "\uff0d", "\uff20")
_PLAIN = re.compile(r"[+-]?(\d+(?:\.\d*)?|\.\d+)(e[+-]?\d+)?|[+-]|->|--|<-", re.IGNORECASE)


def safe(cell: str) -> str:
    """Return the text as it may stand in a file that a spreadsheet opens."""
    return f"'{cell}" if cell.startswith(_RISKY) and not _PLAIN.fullmatch(cell) else cell


def unsafe(cell: str) -> str:
    """Return the text from which :func:`safe` made a cell."""
    return cell[1:] if cell.startswith("'") and safe(cell[1:]) == cell else cell


def table_csv(table: pd.DataFrame, dialect: Dialect = PLAIN) -> str:
    """Return a table as CSV, with safe texts and column names.

    With its schema's ``dialect`` it is read by that schema: UTF-8 has a mark where that is not the
    encoding stated.
    """
    made = table.map(lambda cell: safe(cell) if isinstance(cell, str) else cell)
    made = made.rename(columns=lambda name: safe(str(name)))
    mark = "" if dialect.encoding == PLAIN.encoding else "\ufeff"
    return mark + made.to_csv(index=False, sep=dialect.delimiter or ",")
