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
    """The text as it may stand in a file that a spreadsheet opens."""
    return f"'{cell}" if cell.startswith(_RISKY) and not _PLAIN.fullmatch(cell) else cell


def unsafe(cell: str) -> str:
    """The text that :func:`safe` made a cell of."""
    return cell[1:] if cell.startswith("'") and safe(cell[1:]) == cell else cell


def table_csv(table: pd.DataFrame, dialect: Dialect = PLAIN) -> str:
    """A table as CSV, its texts and its columns' names made safe.

    With its schema's ``dialect`` it is read by that schema: UTF-8 has a mark where that is not the
    encoding stated.
    """
    import pandas as pd  # here: whoever reads a table needs no frame, and it takes .3 s to load

    made = table.copy()
    made.columns = pd.Index([safe(str(name)) for name in made.columns])
    for at, kind in enumerate(made.dtypes):
        if not pd.api.types.is_numeric_dtype(kind):
            cells = list(made.iloc[:, at])
            made.isetitem(at, [safe(v) if isinstance(v, str) else v for v in cells])
    mark = "" if dialect.encoding == PLAIN.encoding else "\ufeff"
    return mark + made.to_csv(index=False, sep=dialect.delimiter or ",")
