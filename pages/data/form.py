"""The schema builder: what a person states about the columns of their own file."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from engine import InputError
from engine.data.schema import LEVEL, Column, Schema
from engine.data.survey import ROWS, Found, survey
from engine.errors import show
from pages.shell import export
from pages.shell import words as text
from pages.shell.data import OwnFile, own_data, own_file
from pages.shell.drafts import keep_own

ABOUT = (
    "A guarantee protects what is in the rows; the schema counts as public. So it must not be "
    "read off the rows: state it from what you know beside them (a codebook, the questionnaire, "
    f"common sense). The table starts with what was found in the first {ROWS:,} rows, which is "
    "not public. Check each row, correct it, and tick “I state this”. A cell that your schema does "
    "not foresee, or that is missing, counts as what you give under “All else counts as”: one "
    "of the levels; of numbers a number, or “level” for a level of their own, the last, and where "
    "you give nothing a file with a missing number is refused. Outside its bounds a number counts "
    "as the nearest."
)

OPEN = "State the schema (starts from exact values found in your data, which are not private)"


def builder() -> None:
    """Table, button and the schema's file; nothing where no file of one's own is there."""
    file = own_file()
    if file is None:
        return
    st.markdown("**Schema: what is public about your columns**")
    data = own_data()
    if data is not None and data.declared:
        st.success("This file is read by the schema that you declared: strict runs are defended.")
    else:
        st.warning(
            "No schema is declared for this file: its levels were found in the rows, so nothing "
            "is defended. State the schema, or upload one in the sidebar."
        )
    if st.toggle(OPEN, key="schema-open"):
        st.caption(ABOUT)
        try:
            _edit(file, _proposal(file))
        except InputError as error:
            st.error(text.plain(str(error)))
    if file.schema is not None:
        content = json.dumps(file.schema.to_json(), ensure_ascii=False, indent=1)
        export.download("Schema (JSON)", lambda: content, f"{file.stem}_schema.json", key="schema")


def _proposal(file: OwnFile) -> pd.DataFrame:
    """The table to start with, made once a file."""
    if file.proposal is None:
        file.proposal = proposal(survey(file.raw))
    found: pd.DataFrame = file.proposal
    return found


def _edit(file: OwnFile, found: pd.DataFrame) -> None:
    rows = st.data_editor(
        found,
        key=f"schema-{file.identity}",
        hide_index=True,
        width="stretch",
        disabled=[NAME, SEEN],
        column_config={
            TYPE: st.column_config.SelectboxColumn(options=list(KINDS)),
            BINS: st.column_config.NumberColumn(min_value=2, max_value=64, step=1),
            STATE: st.column_config.CheckboxColumn(
                help="Known to you from elsewhere than these rows: a public fact."
            ),
        },
    )
    waiting = unstated(rows)
    said = int(rows[USE].astype(bool).sum()) - len(waiting)
    st.caption(
        f"{said} of the used columns are stated by you (public); {len(waiting)} are as found in "
        "your data (not public)."
    )
    if st.button("Read the file by this schema", key="schema-use", type="primary"):
        try:
            keep_own(file.read(stated_schema(rows)))
        except InputError as error:
            st.error(text.plain(str(error)))
            return
        st.rerun()


# The schema that a person states: rows of a table to edit, and what becomes of them ------


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
        OTHER: _rest(kind, levels, column.missing),
        STATE: False,
        SEEN: f"an identifier, left out: {seen}" if column.kind == "identifier" else seen,
    }


def _rest(kind: str, levels: list[str], missing: int) -> str | None:
    """What is proposed for cells that the schema does not foresee: a level of their own where some
    are missing; else the first level, and among numbers a refusal.
    """
    if kind == "numeric":
        return LEVEL if missing else None
    return (_REST if missing else levels[0]) if levels else None


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
        if other is None:
            raise InputError(f"Say which of its levels all else of {show(name)} counts as.")
        levels = [part.strip() for part in str(row[LEVELS] or "").split(",")]
        return Column(name=name, type=kind, levels=tuple(filter(None, levels)), other=other)
    if _empty(row[LOW]) or _empty(row[HIGH]):
        raise InputError(f"Give the lowest and highest value that {name!r} can have.")
    try:
        rest = other if other in (None, LEVEL) else float(other)
    except ValueError:
        raise InputError(
            f"All else of {name!r} counts as a number or as “{LEVEL}”, not {other!r}."
        ) from None
    bounds = (float(row[LOW]), float(row[HIGH]))
    bins = 5 if _empty(row[BINS]) else int(row[BINS])
    return Column(name=name, type=kind, bounds=bounds, bins=bins, other=rest)


def _empty(value: Any) -> bool:
    return value is None or pd.isna(value) or str(value).strip() == ""
