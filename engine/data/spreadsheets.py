"""Text in a CSV file that spreadsheets do not read as a formula.

A spreadsheet computes a cell that begins with = + - or @ (also after a tab or a carriage return),
and such a formula can call a program. These cells get an apostrophe in front. So does a cell that
begins with an apostrophe, so that removing one apostrophe restores every text. Plain numbers and
single signs are not formulas and stay as they are.
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
    """Return the text in a form that is safe in a spreadsheet."""
    return f"'{cell}" if cell.startswith(_RISKY) and not _PLAIN.fullmatch(cell) else cell


def unsafe(cell: str) -> str:
    """Return the original text of a cell made by :func:`safe`."""
    return cell[1:] if cell.startswith("'") and safe(cell[1:]) == cell else cell


def table_csv(table: pd.DataFrame, dialect: Dialect = PLAIN) -> str:
    """Return a table as CSV with safe texts and column names.

    With its schema's ``dialect`` the file can be read by that schema: UTF-8 gets a byte order mark
    if another encoding is declared.
    """
    made = table.map(lambda cell: safe(cell) if isinstance(cell, str) else cell)
    made = made.rename(columns=lambda name: safe(str(name)))
    mark = "" if dialect.encoding == PLAIN.encoding else "\ufeff"
    return mark + made.to_csv(index=False, sep=dialect.delimiter or ",")
