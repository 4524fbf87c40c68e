"""Choosing a dataset: a bundled network, a simulated model, or a person's own CSV file."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import streamlit as st

from engine import InputError
from engine.data.levels import MAX_LEVELS
from engine.data.networks import NETWORKS
from engine.data.reading import MAX_COLUMNS
from engine.data.reading import MAX_ROWS as MOST_ROWS
from engine.data.schema import MOST_BYTES
from engine.data.simulated import GRAPHS, MAX_NODES, NOISES
from pages import mode
from pages.files import Reading, Upload
from pages.shell import reading
from pages.shell import words as text
from pages.shell.data import OWN_GAPS, OWN_PROBLEM, OwnFile, network_sizes, own_data, own_file
from pages.shell.drafts import Draft, draft, kept, take_file
from pages.shell.form import bound, seed
from pages.shell.session import Place
from pages.shell.settings import MAX_ROWS, MIN_ROWS, OWN, SEM
from pages.shell.task import find, watch

_SEEN: Place[tuple[str, ...] | None] = Place("own_seen")  # the files and options read last


def network_label(name: str) -> str:
    """A dataset's name with its size."""
    if name == OWN:
        return "Your own data (CSV)"
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
        bound(
            st.number_input,
            "Rows n",
            form,
            "n",
            key=f"{key}-n",
            step=1000,
            help=f"Rows drawn from the network or model, {MIN_ROWS:,} to {MAX_ROWS:,}.",
        )
    if seeded:
        with right:
            data_seed(key=key)


def data_seed(*, key: str) -> None:
    """Which rows are drawn."""
    seed(
        draft(),
        "sample",
        "Data seed",
        key=f"{key}-sample",
        help="Fixes which rows are drawn (of a simulated model its graph and weights too). "
        "The noise has its own seed.",
    )


def simulated(*, key: str) -> None:
    """The fields of a simulated linear model."""
    form = draft()
    kind, noise = st.columns(2, gap="small")
    with kind:
        bound(
            st.selectbox,
            "Graph",
            form,
            "sem_graph",
            key=f"{key}-sem-graph",
            options=GRAPHS,
            format_func=text.label,
            help="Erdős–Rényi: every edge is equally likely. Scale-free: a few nodes have many.",
        )
    with noise:
        bound(
            st.selectbox,
            "Noise of the model",
            form,
            "sem_noise",
            key=f"{key}-sem-noise",
            options=NOISES,
            format_func=text.label,
            help="Of each variable's own term, with variance 1; weights are ±0.5 to ±2.",
        )
    nodes, edges = st.columns(2, gap="small")
    for column, title, name, words in (
        (nodes, "Nodes", "sem_nodes", f"From 2 to {MAX_NODES}."),
        (edges, "Edges", "sem_edges", "Scale-free: rounded to a whole number for each node."),
    ):
        with column:
            bound(
                st.number_input,
                title,
                form,
                name,
                key=f"{key}-{name}",
                step=1,
                min_value=1,
                help=words,
            )


# A person's own CSV file, and how its columns become levels ------------------------------


LIMITS = (
    "Text (UTF-8, or UTF-16 with its mark) with a header line; comma, semicolon, tab or pipe "
    "between columns; a decimal point or comma. "
    f"At most {MAX_COLUMNS:,} columns, {MOST_ROWS:,} rows and "
    f"{MAX_LEVELS} levels a column; numbers and dates with more are cut into bins. Missing values "
    "are refused unless you say what they count as. The file stays in this session's memory. "
    "Parquet, Arrow, Excel and database files are read on the command line (`python -m engine run "
    "--csv FILE`)."
)


STATED = "stated"
MISSING = {
    "refuse": "Refuse the file",
    "level": "Keep them as a level of their own, the last",
    STATED: "Count them as a value that I state",
}


def upload(*, key: str) -> None:
    """Upload a table and, if known, its true edges; keeps the dataset in session state."""
    if mode.switched_off():
        return
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
        "Schema or codebook (optional)",
        type=["json", "csv", "txt"],
        key=f"{key}-schema",
        max_upload_size=MOST_BYTES // 1_000_000,
        help="What is public about the columns; without it nothing is defended. The Data page "
        "helps to write one.",
    )
    options = _reading_options(key, declared is not None)
    if file is not None:
        _begin(file, truth, declared, options)
    if find(reading.TASK) is not None:
        watch(reading.TASK)
    elif file is not None or current is not None:  # else the page itself says it
        _problem(key)


def _begin(file: Any, truth: Any, declared: Any, options: dict[str, Any]) -> None:
    """Read the files, unless these are read in this way already."""
    ids = [one.file_id if one is not None else "" for one in (file, truth, declared)]
    seen = (*ids, repr(options))
    if _SEEN.get() == seen:
        return
    _SEEN.put(seen)
    reading.stop()
    taken = _taken(file, truth, ids[0])
    try:
        reading.begin(taken, _asked(taken, file, truth, declared, options))
    except InputError as error:
        reading.say(error)
    st.rerun()  # what stands above must not speak of the file before


def _problem(key: str) -> None:
    """Why there is no table, or why it is not read as was asked."""
    if OWN_GAPS.get() is not None and key != "data":  # where the question itself stands
        st.warning(text.plain(str(OWN_PROBLEM.get())), icon=":material/help:")
    elif OWN_GAPS.get() is None and (problem := OWN_PROBLEM.get()):
        st.error(text.plain(problem), icon=":material/error:")


def _taken(file: Any, truth: Any, identity: str) -> OwnFile:
    """The file in force from here on, whatever comes of reading it.

    The same bytes, read in another way or uploaded again, keep what was read from them before.
    """
    raw, known = file.getvalue(), truth.getvalue() if truth is not None else None
    readings = kept("own_readings", {}).setdefault(hashlib.sha256(raw).hexdigest(), set())
    taken = OwnFile(raw, file.name, known, identity, readings=readings)
    take_file(taken)
    return taken


def _asked(
    taken: OwnFile, file: Any, truth: Any, declared: Any, options: dict[str, Any]
) -> Reading:
    """How the files are read; InputError in one sentence where the options do not say it."""
    if declared is not None:
        return taken.by(Upload(declared.name, declared.getvalue()))
    if options["missing"] == STATED:
        raise InputError(
            "State the schema on the Data page, or upload it: for every column it says what "
            "missing values count as. Until then nothing is read."
        )
    rules = {"levels": _rules(options["levels"], str), "edges": _rules(options["edges"], _finite)}
    known = None if truth is None else Upload(truth.name, truth.getvalue())
    return Reading(Upload(file.name, taken.raw), known, None, options | rules)


def own_options() -> Draft:
    """How a person's file is read where no schema says it."""
    fresh = {
        "max_levels": 10,
        "bins": 5,
        "binning": "quantile",
        "missing": "refuse",
        "edges": "",
        "levels": "",
    }
    return kept("own_options", fresh)


def _reading_options(key: str, declared: bool) -> dict[str, Any]:
    store = own_options()
    file = own_file()
    if not declared and file is not None and file.schema is not None:
        st.caption("It is read by the schema that you stated.")
        return dict(store)
    bound(
        st.radio,
        "Missing values, of words and of numbers",
        store,
        "missing",
        key=f"{key}-missing",
        options=list(MISSING),
        format_func=MISSING.get,
        disabled=declared,
        help="Nothing is filled in for you. A value of your choice, or a guarantee, needs a "
        "schema: it says for every column what all else counts as.",
    )
    with st.expander("How columns become levels", key=f"{key}-reading"):
        _level_fields(key, store)
    return dict(store)


def _level_fields(key: str, store: Draft) -> None:
    """How many levels a column may have, and where numbers are cut."""
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
        help="One column a line. Public by themselves; a guarantee needs the whole schema.",
    )
    bound(
        st.text_area,
        "Public levels, in order",
        store,
        "levels",
        key=f"{key}-levels",
        height=70,
        placeholder="smoker: no, yes",
        help="One column a line, in rank tests' order. A guarantee needs the whole schema.",
    )


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
