"""A person's own file: uploaded, read (a large one by a task that can be stopped), and what runs on
it have cost.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import streamlit as st

from engine import Dataset, InputError
from engine.data.column import MAX_LEVELS, MOST_COLUMNS
from engine.data.schema import Schema
from engine.knowledge import MOST_BYTES
from engine.privacy.accounting import Guarantee
from engine.registry import algorithm
from pages import mode, worker
from pages.shell import words as text
from pages.shell.settings import OWN, OWN_DATA, OWN_FILE, OWN_PROBLEM, OwnFile, draft
from pages.shell.state import Place, kept
from pages.shell.task import RUNS, Task, drop, find, start, watch
from pages.worker import Reading, Upload, plain

STOPPED = "Stopped before the table was read; upload it again to read it."
LIMITS = (
    "A table with a header line: CSV (UTF-8, or UTF-16 with its mark; comma, semicolon, tab or "
    f"pipe), gzip or not, Parquet, Arrow or Excel. At most {MOST_COLUMNS:,} columns; each used one "
    f"has at most {MAX_LEVELS} levels, numbers are cut into some. Columns that can be no levels "
    "are left out, and an empty cell is a level of its own. The file stays in this session."
)
KINDS = ("csv", "tsv", "txt", "gz", "parquet", "arrow", "feather", "xlsx", "xls")
TASK = "reading"
_SEEN: Place[tuple[str, ...] | None] = Place("own_seen")  # the files that were taken last


def upload(*, key: str) -> None:
    """Upload a table and, if known, its true edges; keeps the dataset in session state."""
    if mode.switched_off():
        return
    current = OWN_DATA.get()
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
        take(file, truth, declared)
    if find(TASK) is not None:
        if watch(TASK, at=key) is not None:  # it ended while the page was drawn
            st.rerun()
    elif (file is not None or current is not None) and (problem := OWN_PROBLEM.get()):
        st.error(text.plain(problem), icon=":material/error:")


def read(name: str, file: Upload, function: Callable[..., Any], *args: Any, about: Any) -> Task:
    """Begin to read a file, in the session's place of that name."""
    title = f"the reading of {text.plain(file.name)}"
    task = start(name, title, plain, function, *args, about=about, patience=0.0, line=RUNS)
    task.phrase = f"{len(file.raw) / 1e6:.0f} MB"
    return task


def take(file: Any, truth: Any, declared: Any) -> None:
    """An uploaded table comes into force, whatever comes of reading it; with its truth and schema.

    The same files are read once; the same bytes, uploaded again, keep what was read from them.
    """
    seen = tuple(one.file_id if one is not None else "" for one in (file, truth, declared))
    if _SEEN.get() == seen:
        return
    _SEEN.put(seen)
    if (before := OWN_FILE.get()) is not None:
        before.empty()
    raw = file.getvalue()
    readings = kept("own_readings", {}).setdefault(hashlib.sha256(raw).hexdigest(), set())
    edges = None if truth is None else Upload("edges", truth.getvalue())
    taken = OwnFile(raw, file.name, edges, seen[0], readings=readings)
    OWN_FILE.put(taken)
    OWN_DATA.put(None)
    schema = None if declared is None else Upload(declared.name, declared.getvalue())
    try:
        begin(taken, taken.by(schema))
    except InputError as error:
        OWN_PROBLEM.put(str(error))
    st.rerun()  # what stands above must not speak of the file before


def begin(file: OwnFile, asked: Reading) -> None:
    """Read a small table at once; a large one in the place of what was being read.

    Raises InputError in one sentence for a small one that cannot be read; :func:`settle` says it of
    a large one.
    """
    drop(TASK)
    if not asked.large:
        _keep(file, *worker.table(asked))
        return
    draft()["data"] = OWN
    if OWN_DATA.get() is None:
        OWN_PROBLEM.put(f"{file.name} is being read.")
    read(TASK, asked.file, worker.table, asked, about=file)
    settle()


def settle() -> None:
    """Keep what a task has read, or say why it could not; to be called before every page."""
    task = find(TASK)
    if task is None or not task.done:
        return
    drop(TASK)
    if task.result is None:
        OWN_PROBLEM.put(str(task.error or problem(task)))
        return
    chosen = draft()["data"]
    _keep(task.about, *task.result)
    draft()["data"] = chosen  # which may be another by now


def problem(task: Task) -> str:
    """Why nothing was read."""
    return STOPPED if task.stopping else task.problem


def _keep(file: OwnFile, data: Dataset, schema: Schema | None) -> None:
    """What was read becomes the session's own data, and is selected."""
    if schema is not None:
        file.schema = replace(schema, rows=data.n)
    file.readings.add(data.identity)
    OWN_DATA.put(data)
    OWN_PROBLEM.put(None)
    draft()["data"] = OWN


# Cells that match no level ---------------------------------------------------------------------

OWN_AGREED: Place[str] = Place("own_agreed", str)  # the data with agreed unforeseen cells


def asks(data: Dataset) -> bool:
    """Whether many cells count as an answer that match no level, and nobody has agreed."""
    some = any(one.asks for one in data.unforeseen_cells)
    return some and OWN_AGREED.get() != data.identity


# What runs on one file have cost in this session: each from before its first draw, at what it may
# cost at most, so that one that dies is counted; its end settles what it did cost.
Meter = dict[object, Guarantee]
OWN_COSTS: Place[dict[str, Meter]] = Place("own_costs", dict)


def promised(key: str, params: Mapping[str, Any], data: Dataset) -> Guarantee:
    """The most that a run on own data can cost: its cap, or no bound where it has none."""
    built: Any = algorithm(key).params.build(params)
    capped = algorithm(key).private and getattr(built, "strict", True) and data.declared
    return Guarantee(built.epsilon, built.delta) if capped else Guarantee(math.inf, 0.0)


def costs_of(data: Dataset) -> Meter:
    """The meter of a person's file, by its name: other bins or a truth make no new file of it."""
    return OWN_COSTS.get().setdefault(data.name, {})
