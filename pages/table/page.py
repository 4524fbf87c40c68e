"""The user's table: a file, its columns, background knowledge, a budget, a release, its files."""

from __future__ import annotations

import streamlit as st

from engine import Dataset
from pages.forms import picker
from pages.shell import drafted_strip, journey, state
from pages.shell.form import refusals
from pages.shell.own import upload
from pages.shell.settings import OWN_FILE, data_for, drafted_source
from pages.table import columns, pay, rows, share
from pages.table.columns import unforeseen

DOOR = (
    "From a file to an answer: drop a table, declare its columns, ask a question, forecast its "
    "answer, release once."
)
# The only way to numbers from private rows without a charge.
EXACT = "Show exact numbers of your own data (not private)"
EXACT_HELP = "These numbers come from your rows without noise. Sharing them breaks any guarantee."
PUBLIC = "Another dataset: yours again, or a public one"


def main() -> None:
    """Draw the page from top to bottom."""
    if not drafted_source().own:
        door()
        return
    with st.sidebar:
        picker(key="data")
    pay.made()
    here = journey.stage_at("table")
    data = drafted_strip("My data")
    journey.stages_bar(here)
    file = OWN_FILE.get()
    if here.word == "table":
        table(data)
        if file is not None:
            rows.second(file)
    elif here.word == "columns" and file is not None:
        columns.builder(file)
        if data is not None and data.declared:
            unforeseen(data, key="data")
    elif here.word == "known":
        columns.known_view(None if file is None else file.schema)
    elif here.word != "columns":
        pay.step(here.word, data)
        share.opened()
    journey.next_link(here)
    journey.keep_stage(here)


def door() -> None:
    """Draw the upload, and below it the parts that need no table."""
    st.html(f"<h1>{state.visit().page}</h1>")
    st.caption(DOOR)
    upload(key="drop")
    rows.sample()
    share.opened()
    box = st.expander(PUBLIC, key="data-public", on_change="rerun")
    with box, refusals(st.info, "info"):
        picker(key="data")
        if box.open:
            rows.exact(data_for(drafted_source()))


def table(data: Dataset | None) -> None:
    """Show the user's table: its form, and on demand its content."""
    if data is not None:
        unforeseen(data, key="data")
        if not data.declared:
            st.warning(columns.OPEN)
        if st.toggle(EXACT, key="exact", help=EXACT_HELP):
            rows.exact(data)


main()
