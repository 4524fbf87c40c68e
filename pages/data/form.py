"""The schema builder: what a person states about the columns of their own file."""

from __future__ import annotations

import json

import pandas as pd
import streamlit as st

from engine import InputError
from engine.data.survey import ROWS, survey
from pages.data import schema as states
from pages.shell import export
from pages.shell import words as text
from pages.shell.data import OwnFile, own_data, own_file
from pages.shell.drafts import keep_own

ABOUT = (
    "A guarantee protects what is in the rows; the schema counts as public. So it must not be "
    "read off the rows: state it from what you know beside them (a codebook, the questionnaire, "
    f"common sense). The table starts with what was found in the first {ROWS:,} rows, which is "
    "not public. Check each row, correct it, and tick “I state this”. A cell that your schema does "
    "not foresee counts as the value that you give under “All else counts as” (the first level, "
    "or the lowest value, if you give none); outside its bounds a number counts as the nearest."
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
        file.proposal = states.proposal(survey(file.raw))
    found: pd.DataFrame = file.proposal
    return found


def _edit(file: OwnFile, found: pd.DataFrame) -> None:
    rows = st.data_editor(
        found,
        key=f"schema-{file.identity}",
        hide_index=True,
        width="stretch",
        disabled=[states.NAME, states.SEEN],
        column_config={
            states.TYPE: st.column_config.SelectboxColumn(options=list(states.KINDS)),
            states.BINS: st.column_config.NumberColumn(min_value=2, max_value=64, step=1),
            states.STATE: st.column_config.CheckboxColumn(
                help="Known to you from elsewhere than these rows: a public fact."
            ),
        },
    )
    waiting = states.unstated(rows)
    said = int(rows[states.USE].astype(bool).sum()) - len(waiting)
    st.caption(
        f"{said} of the used columns are stated by you (public); {len(waiting)} are as found in "
        "your data (not public)."
    )
    if st.button("Read the file by this schema", key="schema-use", type="primary"):
        try:
            keep_own(file.read(states.stated_schema(rows)))
        except InputError as error:
            st.error(text.plain(str(error)))
            return
        st.rerun()
