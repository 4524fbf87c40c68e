"""The schema that a person states: rows of a table to edit, and what becomes of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from engine import InputError
from engine.data.schema import Column, Schema
from engine.data.survey import Found

KINDS = ("ordered", "unordered", "numeric")
USE, NAME, TYPE, LEVELS = "Use", "Column", "Type", "Levels in order"
LOW, HIGH, BINS, OTHER = "Lowest", "Highest", "Bins", "All else counts as"
STATE, SEEN = "I state this", "Found in your data (not public)"
FIELDS = (USE, NAME, TYPE, LEVELS, LOW, HIGH, BINS, OTHER, STATE, SEEN)
_REST = "other"


def proposal(found: Sequence[Found]) -> pd.DataFrame:
    """One row a column, as found; nothing is stated yet."""
    return pd.DataFrame([_row(column) for column in found], columns=list(FIELDS))


def _row(column: Found) -> dict[str, Any]:
    levels = list(column.levels)
    if levels and column.missing and _REST not in levels:
        levels.append(_REST)  # missing values are kept, as a level of their own
    kind = column.kind if column.kind in KINDS else "unordered"
    seen = f"{column.distinct:,} values" + (f", {column.missing:,} missing" * bool(column.missing))
    return {
        USE: column.kind in KINDS,
        NAME: column.name,
        TYPE: kind,
        LEVELS: ", ".join(levels),
        LOW: column.low,
        HIGH: column.high,
        BINS: 5 if kind == "numeric" else None,
        OTHER: _REST if levels and column.missing else None,
        STATE: False,
        SEEN: f"an identifier, left out: {seen}" if column.kind == "identifier" else seen,
    }


def unstated(rows: pd.DataFrame) -> list[str]:
    """The used columns that the person has not stated as public facts yet."""
    waiting = rows[rows[USE].astype(bool) & ~rows[STATE].astype(bool)]
    return [str(name) for name in waiting[NAME]]


def stated_schema(rows: pd.DataFrame) -> Schema:
    """The schema of the rows; InputError where one is not stated, or does not fit."""
    if missing := unstated(rows):
        listed = ", ".join(missing[:3]) + (" …" if missing[3:] else "")
        raise InputError(
            f"Tick “{STATE}” for {listed}: what was found in your data is not public until you "
            "state it from other knowledge."
        )
    used = rows[rows[USE].astype(bool)]
    return Schema(tuple(_column(row) for row in used.to_dict("records")))


def _column(row: Mapping[Any, Any]) -> Column:
    other = None if _empty(row[OTHER]) else str(row[OTHER]).strip()
    name, kind = str(row[NAME]), str(row[TYPE])
    if kind != "numeric":
        levels = [part.strip() for part in str(row[LEVELS] or "").split(",")]
        return Column(name=name, type=kind, levels=tuple(filter(None, levels)), other=other)
    if _empty(row[LOW]) or _empty(row[HIGH]):
        raise InputError(f"Give the lowest and highest value that {name!r} can have.")
    try:
        rest = None if other is None else float(other)
    except ValueError:
        raise InputError(f"All else of {name!r} counts as a number, not {other!r}.") from None
    bounds = (float(row[LOW]), float(row[HIGH]))
    bins = 5 if _empty(row[BINS]) else int(row[BINS])
    return Column(name=name, type=kind, bounds=bounds, bins=bins, other=rest)


def _empty(value: Any) -> bool:
    return value is None or pd.isna(value) or str(value).strip() == ""
