"""A person's own files are read: at once where they are small, else by jobs that can be stopped."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from engine import Dataset, InputError
from engine.data.schema import Schema
from engine.errors import MissingValues
from pages.host import apart, bounds, uploads
from pages.host.uploads import Reading
from pages.shell import words as text
from pages.shell.data import OWN_GAPS, OWN_PROBLEM, OwnFile, own_data
from pages.shell.drafts import draft, keep_own
from pages.shell.job import READINGS, Job, Slot

STOPPED = "Stopped before the table was read; upload it again to read it."


class Beside(Job):
    """``function(*args)`` of a file in a process of its own; ``found`` is what it returned."""

    queue = READINGS

    def __init__(self, name: str, size: int, function: Callable[..., Any], *args: Any) -> None:
        super().__init__()
        self._size, self._function, self._args = size, function, args
        self.what = f"the reading of {text.plain(name)}"
        self.found: Any = None
        self.refused: InputError | None = None
        self._started = time.monotonic()  # or since its turn came

    def work(self) -> None:
        """Read."""
        self._started = time.monotonic()
        try:
            self.found = uploads.beside(
                self._function, *self._args, stopped=self.stopped, long=False
            )
        except apart.Lost as lost:
            raise InputError(STOPPED if self.stopped() else str(lost)) from None
        except InputError as error:
            self.refused = error
            raise
        finally:
            self._args = ()  # a file is large

    def so_far(self) -> list[str]:
        """Its size, and seconds."""
        size = f"{self._size / 1e6:.0f} MB"
        return [size, f"{time.monotonic() - self._started:.0f} s"]


class ReadJob(Beside):
    """One reading of the file in force."""

    def __init__(self, file: OwnFile, asked: Reading) -> None:
        super().__init__(file.name, len(asked.file.raw), uploads.table, asked)
        self.file = file


JOB: Slot[ReadJob] = Slot("reading")


def begin(file: OwnFile, asked: Reading) -> None:
    """Read a small table at once; a large one in the place of what was being read.

    Raises InputError in one sentence for a small one that cannot be read; :func:`settle` says it of
    a large one.
    """
    stop()
    if not asked.large:
        keep(file, *uploads.table(asked))
        return
    if own_data() is None:
        OWN_PROBLEM.put(f"{file.name} is being read.")
    JOB.begin(ReadJob(file, asked), ReadJob.patience)
    settle()


def stop() -> None:
    """What is being read is wanted no more."""
    JOB.drop()


def settle() -> None:
    """Keep what a job has read, or say why it could not; to be called before every page."""
    job = JOB.job()
    if job is None or job.running:
        return
    JOB.forget()
    if job.found is not None:
        chosen = draft()["data"]
        keep(job.file, *job.found)
        draft()["data"] = chosen  # which may be another by now
    else:
        say(job.refused or job.problem)
    bounds.give_back()


def keep(file: OwnFile, data: Dataset, schema: Schema | None) -> None:
    """What was read becomes the session's own data."""
    if schema is not None:
        file.schema = replace(schema, rows=data.n)
    keep_own(data)


def say(error: InputError | str) -> None:
    """Why there is no table; a question where values are missing."""
    if isinstance(error, MissingValues):
        OWN_GAPS.put(error.where)
        error = f"{error.where}. What do they count as? Answer on Data, or choose above."
    OWN_PROBLEM.put(str(error))
