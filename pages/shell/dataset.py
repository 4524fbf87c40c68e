"""Choosing a dataset: a bundled network, a simulated model, or a person's own table."""

from __future__ import annotations

import streamlit as st

from engine.data.column import MAX_LEVELS, MOST_COLUMNS
from engine.data.networks import NETWORKS
from engine.knowledge import MOST_BYTES
from pages import mode
from pages.shell import reading, state
from pages.shell import words as text
from pages.shell.data import OWN_PROBLEM, network_sizes, own_data
from pages.shell.drafts import draft
from pages.shell.form import bound, parameter
from pages.shell.settings import MODEL, OWN, SEM, VISIT
from pages.shell.task import find, watch


def network_label(name: str) -> str:
    """A dataset's name with its size."""
    if name == OWN:
        return "Your own data"
    if name == SEM:
        return "Simulated linear model (SEM)"
    nodes, edges = network_sizes()[name]
    return f"{name.capitalize()} · {nodes} nodes, {edges} edges"


def picker(*, key: str, seeded: bool = True) -> None:
    """The fields that choose a dataset, bound to the draft; ``seeded`` with their seed."""
    form = draft()
    bound(
        st.selectbox,
        "Dataset",
        form,
        "data",
        key=f"{key}-network",
        options=[*NETWORKS, SEM, OWN],
        format_func=network_label,
    )
    if form["data"] == OWN:
        upload(key=key)
        return
    if form["data"] == SEM:
        simulated(key=key)
    left, right = st.columns([3, 2], gap="small")
    with left:
        parameter(VISIT["n"], form, key=key, step=1000, help=None)
    if seeded:
        with right:
            parameter(VISIT["sample"], form, key=key)


def simulated(*, key: str) -> None:
    """The fields of a simulated linear model, two a row."""
    columns = st.columns(2, gap="small")
    for k, name in enumerate(MODEL):
        with columns[k % 2]:
            parameter(VISIT[name], draft(), key=key)


# A person's own table --------------------------------------------------------------------


LIMITS = (
    "A table with a header line: CSV (UTF-8, or UTF-16 with its mark; comma, semicolon, tab or "
    f"pipe), gzip or not, Parquet, Arrow or Excel. At most {MOST_COLUMNS:,} columns; each used one "
    f"has at most {MAX_LEVELS} levels, numbers are cut into some. Columns that can be no levels "
    "are left out, and an empty cell is a level of its own. The file stays in this session."
)
KINDS = ("csv", "tsv", "txt", "gz", "parquet", "arrow", "feather", "xlsx", "xls")


def upload(*, key: str) -> None:
    """Upload a table and, if known, its true edges; keeps the dataset in session state."""
    if mode.switched_off():
        return
    current = own_data()
    if current is not None:
        size = f"{current.n:,} rows, {current.d} columns"
        st.markdown(f"**{text.plain(current.name)}** · {size}")
    title = "Replace the file" if current is not None else "A table: drop a file here"
    file = st.file_uploader(title, type=list(KINDS), key=f"{key}-file", help=LIMITS)
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
        max_upload_size=MOST_BYTES // 1_000_000,
        help="What is public about the columns; without it no guarantee is given. The step Columns "
        "writes one.",
    )
    if file is not None:
        reading.take(file, truth, declared)
    if find(reading.TASK) is not None:
        if watch(reading.TASK, at=key) is not None:  # it ended while the page was drawn
            st.rerun()
    elif (file is not None or current is not None) and (problem := OWN_PROBLEM.get()):
        st.error(text.plain(problem), icon=":material/error:")


def door(said: str) -> None:
    """A page for an own table before there is one: title, purpose, a place to drop a file."""
    st.html(f"<h1>{state.page()}</h1>")
    st.caption(said)
    upload(key="drop")


# The one door to numbers of private rows that nobody has paid for ------------------------


LABEL = "Show exact numbers of your own data (not private)"


def exact_wanted() -> bool:
    """Whether the person has opened the door by hand, in this session and on this page."""
    return bool(
        st.toggle(
            LABEL,
            key="exact",
            help="What follows is calculated from your rows without noise. Nothing of it may be "
            "handed out under a guarantee.",
        )
    )
