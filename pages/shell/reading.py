"""A person's own files are read: small ones at once, large ones by tasks that can be stopped."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from engine import Dataset, InputError
from engine.data.schema import Schema
from pages import files
from pages.files import Reading, Upload
from pages.shell import words as text
from pages.shell.data import OWN_PROBLEM, OwnFile, own_data
from pages.shell.drafts import draft, keep_own
from pages.shell.task import RUNS, Task, drop, find, start
from pages.worker import plain

STOPPED = "Stopped before the table was read; upload it again to read it."


TASK = "reading"


def read(name: str, file: Upload, function: Callable[..., Any], *args: Any, about: Any) -> Task:
    """Begin to read a file, in the session's place of that name."""
    title = f"the reading of {text.plain(file.name)}"
    task = start(name, title, plain, function, *args, about=about, patience=0.0, line=RUNS)
    task.phrase = f"{len(file.raw) / 1e6:.0f} MB"
    return task


def begin(file: OwnFile, asked: Reading) -> None:
    """Read a small table at once; a large one in the place of what was being read.

    Raises InputError in one sentence for a small one that cannot be read; :func:`settle` says it of
    a large one.
    """
    stop()
    if not asked.large:
        keep(file, *files.table(asked))
        return
    if own_data() is None:
        OWN_PROBLEM.put(f"{file.name} is being read.")
    read(TASK, asked.file, files.table, asked, about=file)
    settle()


def stop() -> None:
    """What is being read is wanted no more."""
    drop(TASK)


def settle() -> None:
    """Keep what a task has read, or say why it could not; to be called before every page."""
    task = find(TASK)
    if task is None or not task.done:
        return
    drop(TASK)
    if task.result is not None:
        chosen = draft()["data"]
        keep(task.about, *task.result)
        draft()["data"] = chosen  # which may be another by now
    else:
        say(task.error or problem(task))


def problem(task: Task) -> str:
    """Why nothing was read."""
    return STOPPED if task.stopping else task.problem


def keep(file: OwnFile, data: Dataset, schema: Schema | None) -> None:
    """What was read becomes the session's own data."""
    if schema is not None:
        file.schema = replace(schema, rows=data.n)
    keep_own(data)


def say(error: InputError | str) -> None:
    """Why there is no table."""
    OWN_PROBLEM.put(str(error))
