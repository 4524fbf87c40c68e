"""A process for the long work of pages, which imports no Streamlit.

The work is a function ``fn(monitor, *args)`` of a module that does not import Streamlit either;
its :class:`Reporter` sends parts of the result as they come.
"""

from __future__ import annotations

import atexit
import io
import math
import os
import signal
import threading
import time
from collections.abc import Callable, Hashable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from engine import ALGORITHMS, Dataset, Knowledge, RunResult, load_dataset, run
from engine.data.schema import Schema, load_schema
from engine.monitor import Monitor
from engine.registry import slow
from engine.request import Request
from engine.studies.trial import knowing

if TYPE_CHECKING:
    from engine.data.column import Dialect
    from engine.data.draft import Found
    from engine.studies.detectability import Invented, Shape

SPARE = 2  # idle processes that are kept
LOOK = 0.05  # seconds between two checks for a stop: each takes as long as many a CI test
COUNTED = 60.0  # seconds for counting false links at one setting
EPSILONS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)  # of a curve
CURVE_RUNS, CURVE_SECONDS = 5, 12.0  # runs at each epsilon, and time for all of them
NETWORKS = 12  # random networks of a forecast
_EVERY = 0.25  # seconds between two reports of progress


@dataclass(frozen=True)
class Reporter(Monitor):
    """A monitor that also takes a ``part`` of the result."""

    part: Callable[[Any], object] = lambda part: None


def _serve(pipe: Any, parent: int) -> None:
    """Do one task after the other."""
    os.nice(5)  # pages have priority
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    with suppress(EOFError, OSError):
        while True:
            if (call := pipe.recv()) is not None:  # None: a stop that came after the end
                pipe.send(_answer(pipe, *call))
            del call


def _end_with(parent: int) -> None:
    while os.getppid() == parent:  # the children of a killed server get another parent
        time.sleep(0.5)
    os._exit(1)


def _answer(pipe: Any, fn: Callable[..., Any], args: tuple[Any, ...]) -> tuple[str, Any]:
    sent = looked = 0.0
    asked = False

    def progress(share: float | None, phrase: str) -> None:
        nonlocal sent
        if (now := time.monotonic()) - sent > _EVERY:
            sent = now
            pipe.send(("progress", (share, phrase)))

    def stop() -> bool:
        nonlocal looked, asked
        if not asked and (now := time.monotonic()) - looked > LOOK:
            looked, asked = now, pipe.poll()
        return asked

    try:
        return "result", fn(Reporter(progress, stop, lambda one: pipe.send(("part", one))), *args)
    except Exception as error:
        return "error", error.with_traceback(None)


class Process:
    """One process and a pipe to it; private rows go through the pipe and are never on disk."""

    def __init__(self) -> None:
        from joblib.externals.loky.backend import get_context

        context = get_context("loky")  # does not import the server's main module again
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs, os.getpid()), daemon=False)
        self.process.start()
        theirs.close()
        # Python would wait for it, and a daemon could not start processes.
        atexit.register(self.end)

    def end(self) -> None:
        """Kill it."""
        if self.process.is_alive():
            os.kill(self.process.pid, signal.SIGKILL)  # a loky process has no kill()
        self.process.join(5.0)
        self.pipe.close()
        atexit.unregister(self.end)


# In the server ----------------------------------------------------------------------------

_idle: list[Process] = []
_in_use = False


def begin() -> None:
    """Run tasks in processes from now on, and prepare one; tests and scripts do not need this."""
    global _in_use
    _in_use = True
    first = Process()
    first.pipe.send((ready, ()))
    with suppress(EOFError, OSError):
        first.pipe.recv()
        give_back(first)


def in_use() -> bool:
    """Return whether tasks run in processes."""
    return _in_use


def take() -> Process:
    """Return a process without work."""
    with suppress(IndexError):
        while not (found := _idle.pop()).process.is_alive():
            found.end()
        return found
    return Process()


def give_back(process: Process) -> None:
    """Return it after its work."""
    if len(_idle) < SPARE:
        _idle.append(process)
    else:
        process.end()


# Work of every page -----------------------------------------------------------------------

LARGE = 5_000_000  # bytes; smaller data are read or drawn faster than a process starts
KEPT = 50_000_000  # bytes of public datasets that a process keeps for its next task
ALONE, DRAWN = 130_000_000, 3  # bytes of a process without data; bytes for each one of its data


class Undrawn(Dataset):
    """Public data that are drawn when a row is first read: a server knows them, and draws none.

    ``recipe`` has the arguments of :meth:`of`; a pickle contains only these.
    """

    recipe: tuple[str, int, int, Knowledge | None] | None = None  # None for a copy with other facts

    @classmethod
    def of(cls, name: str, n: int, seed: int, known: Knowledge | None = None) -> Undrawn:
        """Return a dataset of ``load_dataset`` without its rows; raise InputError as
        ``load_dataset`` does."""
        two = knowing(load_dataset(name, n=2, seed=seed), known)  # its facts do not depend on n
        facts = {f.name: getattr(two, f.name) for f in fields(Dataset)} | {"n": n}
        found = object.__new__(cls)
        found.__dict__.update(facts, recipe=(name, n, seed, known))
        for rows in ("codes", "values"):
            del found.__dict__[rows]
        return found

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Return the recipe, which another process draws from."""
        return (Undrawn.of, self.recipe) if self.recipe else super().__reduce_ex__(protocol)

    @cached_property
    def _rows(self) -> Dataset:
        assert self.recipe is not None
        name, n, seed, _ = self.recipe
        return load_dataset(name, n=n, seed=seed)

    @cached_property
    def codes(self) -> np.ndarray:
        """The data, drawn at this access."""
        return self._rows.codes

    @cached_property
    def values(self) -> np.ndarray | None:
        """The data, drawn at this access."""
        return self._rows.values


def informed(data: Dataset, known: Knowledge | None) -> Dataset:
    """Return the same rows under a schema with background knowledge; draw none."""
    if isinstance(data, Undrawn) and data.recipe:
        name, n, seed, _ = data.recipe
        return Undrawn.of(name, n, seed, known)
    return knowing(data, known)


def mark(data: Dataset) -> Hashable:
    """Return a key that identifies the data; draw none."""
    recipe = data.recipe if isinstance(data, Undrawn) else None
    return recipe or data.identity


def size(*args: Any) -> int:
    """Return the bytes of the datasets among these, drawn or not, and of tables with the shapes
    among them."""
    from engine.studies.detectability import Shape

    shapes = [Shape.of(one) if isinstance(one, Dataset) else one for one in args]
    tables = [one for one in shapes if isinstance(one, Shape)]
    return sum(t.rows * len(t.cardinalities) * (9 if t.bounds else 1) for t in tables)


def memory(*args: Any) -> int:
    """Return the bytes that a process needs for a task with these arguments, from the measurements
    in ``DRAWN``."""
    return ALONE + DRAWN * size(*args)


_cached: dict[Hashable, Dataset] = {}  # public datasets with all their counts


def cached(data: Dataset) -> Dataset:
    """Return this process's copy of the data if it has one; keep small public ones."""
    if not data.public or size(data) > KEPT:
        return data
    _cached[mark(data)] = found = _cached.pop(mark(data), data)
    while len(_cached) > 2 or size(*_cached.values()) > KEPT:
        del _cached[next(iter(_cached))]
    return found


def search(monitor: Reporter, request: Request, data: Dataset) -> RunResult:
    """Run the request; report first if loops must be compiled."""
    if seconds := slow(request.algorithm):
        monitor.tell(None, f"preparing it, once, about {seconds} s")
    return request.run(cached(data), **monitor.options)


def curve(monitor: Reporter, request: Request, data: Dataset) -> bool:
    """Send each epsilon with its F1 (low, middle, high), from 1 outwards, while there is time.

    Returns True if all are there.
    """
    from engine.studies.repeat import point
    from engine.studies.study import sweep

    values, monitor = dict(request.params), monitor.within(CURVE_SECONDS)
    data = cached(knowing(data, request.knowledge))
    for done, epsilon in enumerate(sorted(EPSILONS, key=lambda e: abs(math.log(e))), 1):
        values["epsilon"] = epsilon
        found = list(sweep(data, request.algorithm, values, CURVE_RUNS, stop=monitor.stop))
        if len(found) < CURVE_RUNS:
            return False
        monitor.tell(done / len(EPSILONS))
        monitor.part((epsilon, *point(epsilon, found).f1))
    return True


def plain(monitor: Reporter, function: Callable[..., Any], *args: Any) -> Any:
    """Do work that reports no progress and cannot be stopped."""
    return function(*args)


def false_links(
    monitor: Reporter, key: str, shape: Shape, params: Mapping[str, Any], draws: int = 0
) -> Invented | None:
    """Return the number of links that a setting finds in independent columns, on fewer tables if
    they take long.

    ``draws`` tables are counted (as many as is usual if 0), or as many as a minute allows.
    """
    from engine.studies import repeat

    stop = monitor.within(COUNTED).stop
    return repeat.invented(key, shape, params, draws=draws or repeat.DRAWS, stop=stop)


def ready(monitor: Reporter) -> None:
    """Compile and import all that runs need, so that the first user does not wait."""
    list(ALGORITHMS.values())  # imports them all
    run("priv_pc", load_dataset("asia", n=2_000), trace=False)


# A person's files read as tables -----------------------------------------------------------


@dataclass(frozen=True)
class Upload:
    """A file as it was uploaded: its name and its bytes.

    With ``other`` its rows also have the columns of a second file, joined by key.
    """

    name: str
    raw: bytes = field(repr=False)
    other: Upload | None = None
    keys: tuple[str, str] = ("", "")

    def open(self) -> Any:
        """Open the file, with its name for messages."""
        found = io.BytesIO(self.raw)
        found.name = self.name
        if self.other is None:
            return found
        from engine.data.sources import Join

        return Join(found, self.other.open(), self.keys)


def large(*args: Any) -> bool:
    """Return whether reading the files among these takes longer than starting a process.

    Compressed files may also take longer.
    """
    files = [one.raw for one in args if isinstance(one, Upload)]
    packed = any(raw.startswith((b"\x1f\x8b", b"PK", b"PAR1")) for raw in files)
    return packed or sum(map(len, files)) > LARGE


def table(
    monitor: Monitor, file: Upload, truth: Upload | None, schema: Schema | Upload | None
) -> tuple[Dataset, Schema | None]:
    """Return the table and the schema that it was read with; raise InputError with one sentence."""
    from engine.data.reading import read

    if isinstance(schema, Upload):
        schema = load_schema(schema.raw)
    edges, name = None if truth is None else truth.raw, Path(file.name).stem
    return read(file.open(), schema, truth=edges, name=name, monitor=monitor), schema


def names(file: Upload) -> list[str]:
    """Return the names of its columns; InputError for a join that would repeat rows."""
    from engine.data.sources import opened

    with opened(file.open()) as found:
        return [name for name in found.names if name]


def columns(monitor: Monitor, file: Upload) -> tuple[tuple[Found, ...], Dialect]:
    """Return a survey of the file's columns, and the dialect of its text."""
    from engine.data.draft import survey

    return survey(file.open(), monitor=monitor)
