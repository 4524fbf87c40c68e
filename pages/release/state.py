"""A release that goes on: it can be stopped, and says whether it has been paid for."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from engine import Dataset, InputError
from engine.data.schema import Schema
from engine.release.file import Release
from engine.release.settings import COVERED
from pages import mode
from pages.release.work import CHARGED, release
from pages.shell import words as text
from pages.shell.data import in_force
from pages.shell.session import Place
from pages.shell.task import RUNS, Task, find, start

_LAST: Place[tuple[Release, Dataset] | None] = Place("released")


TASK = "release"
PATIENCE = 5.0  # seconds that a release has after a stop: one that is charged should be kept


def charged(task: Task) -> bool:
    """Whether the budget has paid for it."""
    return CHARGED in task.parts


def kept(task: Task) -> str | None:
    """Its id in the vault."""
    return next((part for part in task.parts if part != CHARGED), None)


def cost_of_stopping(task: Task) -> str:
    """What a stop would cost now, in words."""
    if charged(task):
        return "It is charged: stopping now gives no release and keeps the charge."
    if task.place:
        return "Nothing is charged yet."
    return "The request is tried out on empty rows. Nothing is charged yet: stopping is free."


def problem(task: Task) -> str:
    """Why there is no release, and whether it is paid for; "" where there is one."""
    if not task.problem or isinstance(task.error, InputError):
        return task.problem
    if not charged(task):
        return f"{task.problem} Nothing was charged."
    budget = task.about[1]
    return f"{task.problem} The charge to “{budget}” stays, since noise may have been drawn."


def going() -> bool:
    """Whether one goes on."""
    task = find(TASK)
    return task is not None and not task.done


def begin(
    data: Dataset, schema: Schema, values: Mapping[str, Any], name: str, *, sign: bool = False
) -> None:
    """Start a release that the budget ``name`` pays, unless one goes on."""
    mode.budgets()
    if not going():
        title = f"a release charged to “{text.plain(name)}”"
        call = data, schema, COVERED[0], dict(values), name, sign
        options: dict[str, Any] = {
            "line": RUNS,
            "patience": PATIENCE,
            "grace": math.inf,
            "about": (data, name),
        }
        start(TASK, title, release, *call, **options)


def made() -> bool:
    """Whether a release was made of the file in force."""
    found = last()
    return found is not None and in_force(found[1])


def last() -> tuple[Release, Dataset] | None:
    """The last release of this session, and the data it was made of."""
    done = find(TASK)
    if done is not None and done.result is not None:
        _LAST.put((done.result, done.about[0]))
    return _LAST.get()
