"""A user's file: its upload, its reading (a large one by a task that can be stopped), and the cost
of runs on it.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import streamlit as st

from engine import Dataset
from engine.data.column import MAX_LEVELS, MOST_COLUMNS
from engine.data.schema import Schema
from engine.knowledge import MOST_BYTES
from engine.privacy.accounting import Guarantee
from engine.registry import algorithm
from engine.request import OWN, Request, usual_algorithm
from pages import mode, worker
from pages.shell import words as text
from pages.shell.settings import OWN_DATA, OWN_FILE, OWN_PROBLEM, OwnFile, draft
from pages.shell.state import Place, session_values
from pages.shell.task import HERE, RUNS, Task, bar, drop, find, start
from pages.worker import Upload

STOPPED = "Stopped before the table was read; upload it again to read it."
LIMITS = (
    "A table with a header line: CSV (UTF-8, or UTF-16 with its mark; comma, semicolon, tab or "
    f"pipe), plain or gzip, Parquet, Arrow or Excel. It has at most {MOST_COLUMNS:,} columns. "
    f"Each used column has at most {MAX_LEVELS} levels, and numbers are cut into intervals. "
    "Other columns are left out, and an empty cell is a separate level. The file stays in this "
    "session."
)
KINDS = ("csv", "tsv", "txt", "gz", "parquet", "arrow", "feather", "xlsx", "xls")
TASK = "reading"


def upload(*, key: str) -> None:
    """Show the uploads of a table, its true edges and its schema."""
    if mode.switched_off():
        return
    current = OWN_DATA.get()
    if current is not None:
        who = "rows" if current.schema is None else current.schema.what
        st.markdown(f"**{text.plain(current.name)}** · {current.n:,} {who}, {current.d} columns")
    title = "Replace the file" if current is not None else "A table: drop a file here"
    took: dict[str, Any] = {"on_change": receive, "args": (key,)}
    file = st.file_uploader(title, type=list(KINDS), key=f"{key}-file", help=LIMITS, **took)
    with st.expander("Its schema, or true edges, from a file"):
        st.file_uploader(
            "Schema",
            type=["json"],
            key=f"{key}-schema",
            max_upload_size=MOST_BYTES // 1_000_000,
            help="Public facts about the columns; without them no guarantee is given. On *Columns* "
            "you can create such a file.",
            **took,
        )
        st.file_uploader(
            "True edges",
            type=["csv", "txt"],
            key=f"{key}-truth",
            help="One edge per line: from,to or from -> to. Without it there are no scores.",
            **took,
        )
    if find(TASK) is not None:
        bar(TASK, at=key)
    elif (file is not None or current is not None) and (problem := OWN_PROBLEM.get()):
        st.error(text.plain(problem), icon=":material/error:")


def read(name: str, function: Callable[..., Any], file: Upload, *args: Any, about: Any) -> Task:
    """Start to read a file as the session's task of that name; a small one is read at once."""
    title, here = f"the reading of {text.plain(file.name)}", not worker.large(file, *args)
    options: dict[str, Any] = {"line": HERE, "wait": 60.0} if here else {"line": RUNS}
    task = start(name, title, function, file, *args, about=about, patience=0.0, **options)
    task.phrase = f"{len(file.raw) / 1e6:.0f} MB"
    return task


def receive(key: str) -> None:
    """Use the uploaded files, even if they cannot be read.

    They are a table with its truth and schema, or only these for the current table. If the same
    bytes are uploaded again, they keep their readings.
    """
    given = {part: st.session_state.get(f"{key}-{part}") for part in ("file", "truth", "schema")}
    came = {part: Upload(one.name, one.getvalue()) for part, one in given.items() if one}
    before = OWN_FILE.get()
    if given["file"] is None:
        if before is not None and came:
            before.truth = came.get("truth", before.truth)
            begin(before, came.get("schema", before.schema))
        return
    take(came["file"], given["file"].file_id, came.get("truth"), came.get("schema"))


def take(file: Upload, id_: str, truth: Upload | None = None, schema: Upload | None = None) -> None:
    """Replace the current table."""
    if (before := OWN_FILE.get()) is not None:
        before.empty()
    digest = hashlib.sha256(file.raw).hexdigest()
    readings = session_values("own_readings", {}).setdefault(digest, set())
    OWN_FILE.put(taken := OwnFile(file, truth, id_, readings=readings))
    OWN_DATA.put(None)
    begin(taken, schema)


def begin(file: OwnFile, schema: Schema | Upload | None) -> None:
    """Read a table that replaces the current one; :func:`collect` keeps the result."""
    drop(TASK)
    OWN_PROBLEM.put(f"{file.upload.name} is being read.")
    read(TASK, worker.table, file.upload, file.truth, schema, about=file)
    collect()
    form = draft()
    if form["data"] != OWN and (find(TASK) is not None or OWN_PROBLEM.get() is None):
        if form["algorithm"] == usual_algorithm(False):
            form["algorithm"] = usual_algorithm(True)
        form["data"] = OWN


def collect() -> None:
    """Keep the table that a task has read, or its error; called before every page."""
    task = find(TASK)
    if task is None or not task.done:
        return
    drop(TASK)
    OWN_PROBLEM.put(problem(task) or None)
    if task.result is None:
        return
    file, (data, schema) = task.about, task.result
    if schema is not None:
        file.schema = replace(schema, rows=data.n)
    file.readings.add(data.identity)
    OWN_DATA.put(data)


def problem(task: Task) -> str:
    """Return why no table was read, or "" if one was read."""
    return STOPPED if task.stopping and task.result is None else task.problem


# The costs of a session's runs on one file. Each run is entered with its highest cost before its
# first draw, so that a crashed run is counted. Its end replaces this by its real cost.
Meter = dict[object, Guarantee]
OWN_COSTS: Place[dict[str, Meter]] = Place("own_costs", dict)


def promised(key: str, params: Mapping[str, Any], data: Dataset) -> Guarantee:
    """Return the highest cost of a run on own data: its cap, or no bound if it has none."""
    built: Any = algorithm(key).params.build(params)
    capped = algorithm(key).private and getattr(built, "strict", True) and data.declared
    return Guarantee(built.epsilon, built.delta) if capped else Guarantee(math.inf, 0.0)


def costs_of(data: Dataset) -> Meter:
    """Return the meter of a user's file, by its name; other bins or another truth do not make a new
    file."""
    return OWN_COSTS.get().setdefault(data.name, {})


def metered(request: Request, data: Dataset) -> Callable[[Guarantee | None], None]:
    """Enter a run in the session's costs before it begins.

    Returns:
        A function to call at its end with the real cost, None for no cost.
    """
    meter, run = costs_of(data), object()
    meter[run] = promised(request.algorithm, request.params, data)

    def replace_cost(cost: Guarantee | None) -> None:
        del meter[run]
        if cost is not None:
            meter[run] = cost

    return replace_cost
