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
from pages.shell.state import Place, kept
from pages.shell.task import HERE, RUNS, Task, bar, drop, find, start
from pages.worker import Upload

STOPPED = "Stopped before the table was read; upload it again to read it."
LIMITS = (
    "A table with a header line: CSV (UTF-8, or UTF-16 with its mark; comma, semicolon, tab or "
    f"pipe), gzip or not, Parquet, Arrow or Excel. At most {MOST_COLUMNS:,} columns; each used one "
    f"has at most {MAX_LEVELS} levels, numbers are cut into intervals. Other columns are "
    "left out, and an empty cell is a separate level. The file stays in this session."
)
KINDS = ("csv", "tsv", "txt", "gz", "parquet", "arrow", "feather", "xlsx", "xls")
TASK = "reading"


def upload(*, key: str) -> None:
    """Upload a table and, if known, its true edges; keeps the dataset in session state."""
    if mode.switched_off():
        return
    current = OWN_DATA.get()
    if current is not None:
        who = "rows" if current.schema is None else current.schema.what
        st.markdown(f"**{text.plain(current.name)}** · {current.n:,} {who}, {current.d} columns")
    title = "Replace the file" if current is not None else "A table: drop a file here"
    took: dict[str, Any] = {"on_change": receive, "args": (key,)}
    file = st.file_uploader(title, type=list(KINDS), key=f"{key}-file", help=LIMITS, **took)
    st.file_uploader(
        "True edges (optional)",
        type=["csv", "txt"],
        key=f"{key}-truth",
        help="One edge a line: from,to or from -> to. Without it there are no scores.",
        **took,
    )
    st.file_uploader(
        "Schema (optional)",
        type=["json"],
        key=f"{key}-schema",
        max_upload_size=MOST_BYTES // 1_000_000,
        help="Public facts about the columns; without them no guarantee is given. The step Columns "
        "writes such a file.",
        **took,
    )
    if find(TASK) is not None:
        bar(TASK, at=key)
    elif (file is not None or current is not None) and (problem := OWN_PROBLEM.get()):
        st.error(text.plain(problem), icon=":material/error:")


def read(name: str, function: Callable[..., Any], file: Upload, *args: Any, about: Any) -> Task:
    """Begin to read a file, in the session's place of that name; a small one is read at once."""
    title, here = f"the reading of {text.plain(file.name)}", not worker.large(file, *args)
    options: dict[str, Any] = {"line": HERE, "wait": 60.0} if here else {"line": RUNS}
    task = start(name, title, function, file, *args, about=about, patience=0.0, **options)
    task.phrase = f"{len(file.raw) / 1e6:.0f} MB"
    return task


def receive(key: str) -> None:
    """What was uploaded comes into force, whatever comes of reading it: a table with its truth and
    schema, or these of the table that is there. The same bytes, uploaded again, keep what was read
    from them.
    """
    given = {part: st.session_state.get(f"{key}-{part}") for part in ("file", "truth", "schema")}
    came = {part: Upload(one.name, one.getvalue()) for part, one in given.items() if one}
    before = OWN_FILE.get()
    if given["file"] is None:
        if before is not None and came:
            before.truth = came.get("truth", before.truth)
            begin(before, came.get("schema", before.schema))
        return
    file, truth = came["file"], came.get("truth")
    if before is not None:
        before.empty()
    readings = kept("own_readings", {}).setdefault(hashlib.sha256(file.raw).hexdigest(), set())
    OWN_FILE.put(taken := OwnFile(file, truth, given["file"].file_id, readings=readings))
    OWN_DATA.put(None)
    begin(taken, came.get("schema"))


def begin(file: OwnFile, schema: Schema | Upload | None) -> None:
    """Read a table, in the place of what was being read; :func:`collect` keeps what comes of it."""
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
    """Keep what a task has read, or say why it could not; to be called before every page."""
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
    """Why nothing was read; "" where something was."""
    return STOPPED if task.stopping and task.result is None else task.problem


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


def on_meter(request: Request, data: Dataset) -> Callable[[Guarantee | None], None]:
    """Put a run on the meter, before it begins; what is returned settles it: None for no cost."""
    meter, cost = costs_of(data), object()
    meter[cost] = promised(request.algorithm, request.params, data)

    def settle(spent: Guarantee | None) -> None:
        del meter[cost]
        if spent is not None:
            meter[cost] = spent

    return settle
