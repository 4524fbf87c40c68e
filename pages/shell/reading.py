"""A person's own files are read: small ones at once, large ones by tasks that can be stopped."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import streamlit as st

from engine import Dataset, InputError
from engine.data.schema import Schema
from pages import files
from pages.files import Reading, Upload
from pages.shell import words as text
from pages.shell.data import OWN_DATA, OWN_FILE, OWN_KNOWING, OWN_PROBLEM, OwnFile
from pages.shell.drafts import draft, kept
from pages.shell.session import Place
from pages.shell.settings import OWN
from pages.shell.task import RUNS, Task, drop, find, start
from pages.worker import plain

STOPPED = "Stopped before the table was read; upload it again to read it."
TASK = "reading"
_SEEN: Place[tuple[str, ...] | None] = Place("own_seen")  # the files that were taken last


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
    raw, edges = file.getvalue(), None if truth is None else truth.getvalue()
    readings = kept("own_readings", {}).setdefault(hashlib.sha256(raw).hexdigest(), set())
    taken = OwnFile(raw, file.name, edges, seen[0], readings=readings)
    OWN_FILE.put(taken)
    OWN_DATA.put(None)
    OWN_KNOWING.get().clear()
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
        _keep(file, *files.table(asked))
        return
    draft()["data"] = OWN
    if OWN_DATA.get() is None:
        OWN_PROBLEM.put(f"{file.name} is being read.")
    read(TASK, asked.file, files.table, asked, about=file)
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
    OWN_KNOWING.get().clear()
    OWN_PROBLEM.put(None)
    draft()["data"] = OWN
