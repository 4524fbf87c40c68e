"""A person's own CSV file, and how its columns become levels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from engine import InputError, read_csv
from engine.data.levels import MAX_LEVELS
from engine.data.reading import MAX_COLUMNS, MAX_ROWS
from engine.data.schema import load_schema
from pages.shell import words as text
from pages.shell.data import OwnFile, own_data
from pages.shell.drafts import keep_own, kept
from pages.shell.fields import bound

LIMITS = (
    "Text in UTF-8 with a header line; comma, semicolon, tab or pipe between columns; a decimal "
    f"point or comma. At most {MAX_COLUMNS:,} columns, {MAX_ROWS:,} rows and {MAX_LEVELS} levels a "
    "column; numbers and dates with more are cut into bins. Missing values need a schema, which "
    "says what they count as. The file stays in this session's memory. Parquet, Arrow, Excel and "
    "database files are read on the command line (`python -m engine run --csv FILE`)."
)


def upload(*, key: str) -> None:
    """Upload a table and, if known, its true edges; keeps the dataset in session state."""
    current = own_data()
    if current is not None:
        size = f"{current.n:,} rows, {current.d} columns"
        st.markdown(f"**{text.plain(current.name)}** · {size}")
    title = "Replace the file" if current is not None else "CSV file"
    file = st.file_uploader(title, type=["csv", "txt", "tsv"], key=f"{key}-file", help=LIMITS)
    truth = st.file_uploader(
        "True edges (optional)",
        type=["csv", "txt"],
        key=f"{key}-truth",
        help="One edge a line: from,to or from -> to. Without it there are no scores.",
    )
    declared = st.file_uploader(
        "Schema (optional)",
        type=["json"],
        key=f"{key}-schema",
        help="What is public about the columns; without it nothing is defended. The Data page "
        "helps to write one.",
    )
    options = _reading_options(key)
    if file is None:
        return
    ids = [one.file_id if one is not None else "" for one in (file, truth, declared)]
    seen = (*ids, repr(options))
    if st.session_state.get("own_seen") != seen:
        st.session_state["own_seen"] = seen
        kept_file = OwnFile(
            file.getvalue(), file.name, truth.getvalue() if truth is not None else None, ids[0]
        )
        st.session_state["own_file"] = kept_file
        st.session_state["own_problem"] = (
            _read(file, truth, options)
            if declared is None
            else _follow(kept_file, declared.getvalue())
        )
        if st.session_state["own_problem"] is None:
            st.rerun()
    if problem := st.session_state.get("own_problem"):
        st.error(text.plain(problem), icon=":material/error:")


def _read(file: Any, truth: Any, options: dict[str, Any]) -> str | None:
    """Keep the data that the files hold; returns what is wrong with them, in one sentence."""
    file.seek(0)
    try:
        levels = _rules(options.pop("levels"), str)
        edges = _rules(options.pop("edges"), _finite)
        if truth is not None:
            truth.seek(0)
        keep_own(read_csv(file, truth=truth, levels=levels, edges=edges, **options))
    except InputError as error:
        return str(error)
    return None


def _follow(file: OwnFile, schema: bytes) -> str | None:
    """Keep the data as a declared schema reads them; returns what is wrong, in one sentence."""
    try:
        keep_own(file.read(load_schema(schema)))
    except InputError as error:
        return str(error)
    return None


def _reading_options(key: str) -> dict[str, Any]:
    store = kept(
        "own_options",
        {"max_levels": 10, "bins": 5, "binning": "quantile", "edges": "", "levels": ""},
    )
    with st.expander("How columns become levels", key=f"{key}-reading"):
        bound(
            st.number_input,
            "Keep numbers with at most … values",
            store,
            "max_levels",
            key=f"{key}-max-levels",
            step=1,
            min_value=2,
            max_value=MAX_LEVELS,
            help="A numeric column with more distinct values is cut into bins.",
        )
        bound(
            st.number_input,
            "Bins",
            store,
            "bins",
            key=f"{key}-bins",
            step=1,
            min_value=2,
            max_value=MAX_LEVELS,
        )
        bound(
            st.radio,
            "Cut at",
            store,
            "binning",
            key=f"{key}-binning",
            horizontal=True,
            options=["quantile", "width"],
            format_func={"quantile": "Quantiles", "width": "Equal widths"}.get,
        )
        bound(
            st.text_area,
            "Public cut points",
            store,
            "edges",
            key=f"{key}-edges",
            height=70,
            placeholder="age: 30, 50, 70",
            help="One column a line. Cut points read from the data are not private; these are.",
        )
        bound(
            st.text_area,
            "Public levels, in order",
            store,
            "levels",
            key=f"{key}-levels",
            height=70,
            placeholder="smoker: no, yes",
            help="One column a line. Rank tests use this order.",
        )
    return dict(store)


def _rules(typed: str, convert: Callable[[str], Any]) -> dict[str, list[Any]]:
    """Parse lines of ``column: value, value``; raises InputError in one sentence."""
    rules = {}
    for line in filter(str.strip, typed.splitlines()):
        name, colon, values = line.rpartition(":")
        cells = [cell.strip() for cell in values.split(",")]
        if not colon or not name.strip() or not all(cells):
            raise InputError(f"Write {line.strip()!r} as a column, a colon and values with commas.")
        rules[name.strip()] = [convert(cell) for cell in cells]
    return rules


def _finite(cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        raise InputError(f"The cut point {cell!r} is not a number; correct it.") from None
