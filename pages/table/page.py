"""The user's table: a file, its columns, background knowledge, a budget, a release, its files."""

from __future__ import annotations

import streamlit as st

from engine import Dataset, InputError
from pages import mode
from pages.forms import picker
from pages.shell import drafted_strip, journey, state
from pages.shell.own import upload
from pages.shell.settings import OWN_FILE, data_for, drafted_source
from pages.shell.words import plain
from pages.table import columns, handed, join, pay, rows
from pages.table.columns import unforeseen

DOOR = (
    "From a file to an answer: drop a table, declare its columns, ask a question, forecast its "
    "answer, release once."
)
RELEASE = (
    "A release is charged to your budget before any noise is drawn. Its noise comes from the "
    "operating system, without a seed. Anyone can check its file without your data."
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
            join.second(file)
    elif here.word == "columns" and file is not None:
        columns.builder(file)
        if data is not None and data.declared:
            unforeseen(data, key="data")
    elif here.word == "known":
        columns.known_view(None if file is None else file.schema)
    elif here.word in ("budget", "release", "share"):
        paid(here.word, data)
        handed.files()
    journey.next_link(here)
    journey.keep_stage(here)


def door() -> None:
    """Draw the upload, and below it the parts that need no table."""
    st.html(f"<h1>{state.visit().page}</h1>")
    st.caption(DOOR)
    upload(key="drop")
    rows.sample()
    handed.files()
    box = st.expander(PUBLIC, key="data-public", on_change="rerun")
    with box:
        picker(key="data")
        if not box.open:
            return
        try:
            rows.exact(data_for(drafted_source()))
        except InputError as error:
            st.info(plain(str(error)))


def table(data: Dataset | None) -> None:
    """Show the user's table: its form, and on demand its content."""
    if data is not None:
        unforeseen(data, key="data")
        if not data.declared:
            st.warning(columns.OPEN)
        if st.toggle(EXACT, key="exact", help=EXACT_HELP):
            rows.exact(data)


def paid(step: str, data: Dataset | None) -> None:
    """Show the release: the form that charges, or its progress; then its result."""
    st.caption(RELEASE)
    if mode.switched_off() or data is None:
        return
    if step == "share" and not pay.made():
        st.info("This table was not released in this session. Go to Release first.")
    if pay.going():
        pay.live()
        return
    pay.ended()
    if step != "share":
        pay.spend(data, pay.budgets())
    else:
        try:
            pay.again(mode.budgets().all())
        except InputError as error:
            st.error(plain(str(error)))


main()
