"""Heavy work beside the server, in processes that can be ended; nothing of Streamlit's in here.

While one visitor's search runs in another process, no other visitor's page waits for the
interpreter, and a search that does not listen to a stop is ended with its process. Without
:func:`begin`, as in tests and scripts, the same calls are made right here.
"""

from __future__ import annotations

import os
import pickle
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from queue import SimpleQueue
from tempfile import TemporaryDirectory
from typing import Any

from engine import Dataset, RunResult, run
from engine.audit.cases import CaseResult, audit, cases
from engine.audit.measure import Measured
from engine.context import Step
from engine.errors import InputError
from engine.pairs.decision import Setting
from engine.params import Parameters
from engine.release.checking import check
from engine.release.file import Release
from engine.studies.price import PriceStep, price_steps
from engine.studies.repeat import Repetition, repeated
from engine.studies.scenes import Frame, Scene, States, states_of
from engine.teaching.pairwise import Picture, picture

Stopped = Callable[[], bool]

LOOK = 0.05  # seconds between two looks whether a stop was asked for
PATIENCE = 5.0  # seconds that work gets to listen to a stop before its process is ended
IDLE = 120.0  # seconds after which a process with nothing to do gives its memory back
TOLD = 0.25  # seconds between two notes of a run
KEEPS = 2  # public datasets that a process keeps, with all that was counted of them
SMALL = 12  # columns; searches on so few are done before a process would have the request
LONG = 3  # processes for studies and the like: at most so many, so that no search waits for them
READERS = 2  # large files read at once


class Lost(InputError):
    """Work that ended with its process; ``aborted`` as a program or the system ends one that has
    no memory left.
    """

    def __init__(self, message: str, aborted: bool = False) -> None:
        super().__init__(message)
        self.aborted = aborted


class Workers:
    """At most so many processes, each with one thing to do at a time; ``LONG`` for long work."""

    def __init__(self, most: int) -> None:
        self.most, self.killed = most, 0
        self._idle: list[_Worker] = []
        self._busy = self._long = 0
        self._room = threading.Condition()

    def call(
        self,
        function: Callable[..., Any],
        *args: Any,
        stopped: Stopped,
        notes: Mapping[str, Callable[..., object]] | None = None,
        data: Dataset | None = None,
        long: bool = False,
        once: bool = False,
        patience: float | None = None,
        **options: Any,
    ) -> Any:
        """``function(*args, cancelled=…, **options)`` in one of the processes.

        ``notes`` are functions that it calls under these names, here; ``data`` is one more option,
        which a process that has it already is not sent again. ``once``: the process ends with it,
        so that its memory is back at once. ``patience`` is :data:`PATIENCE` unless said. Raises
        what the function raises, and Lost where it did not listen to a stop, or where its process
        came to an end.
        """
        worker = self._take("" if data is None else data.identity, long)
        alive = False
        patience = PATIENCE if patience is None else patience
        try:
            request = _Request(function, args, options, tuple(notes or ()), worker.pack(data))
            result = worker.call(request, dict(notes or {}), stopped, patience)
            alive = True
        except _Raised as raised:
            alive = True
            raise raised.error from None
        finally:
            self._back(worker if alive and not once else None, long)
            if not alive or once:
                # How work on own data ends is nobody's to know: /metrics tells this number.
                own = once or (data is not None and not data.public)
                self.killed += not alive and not own
                worker.end()
        return result

    def _take(self, identity: str, long: bool) -> _Worker:
        with self._room:
            while self._busy >= self.most or (long and self._long >= LONG):
                self._room.wait(LOOK)
            self._busy += 1
            self._long += long
            self._end_idle()
            fitting = [worker for worker in self._idle if identity in worker.has]
            if self._idle:
                worker = (fitting or self._idle)[-1]
                self._idle.remove(worker)
                return worker
        return _Worker()

    def _back(self, worker: _Worker | None, long: bool) -> None:
        with self._room:
            self._busy -= 1
            self._long -= long
            if worker is not None:
                worker.since = time.monotonic()
                self._idle.append(worker)
                later = threading.Timer(IDLE + 1.0, self._end_idle)
                later.daemon = True
                later.start()
            self._room.notify()

    def _end_idle(self) -> None:
        with self._room:
            now = time.monotonic()
            old = [worker for worker in self._idle if now - worker.since > IDLE]
            self._idle = [worker for worker in self._idle if worker not in old]
        for worker in old:
            worker.end()


@dataclass(frozen=True)
class _Request:
    function: Callable[..., Any]
    args: tuple[Any, ...]
    options: Mapping[str, Any]
    notes: tuple[str, ...]
    data: tuple[str, Dataset | None] | None  # identity, and the rows where they are new there


class _Raised(Exception):
    """What the function raised, in a process that is as good as before."""

    def __init__(self, error: Exception) -> None:
        self.error = error


class _Worker:
    """One process at the other end of a pipe. Private rows go through it and touch no disk."""

    def __init__(self) -> None:
        from joblib.externals.loky.backend import get_context

        context = get_context("loky")  # does not import the program's main module again
        self.has: list[str] = []
        self.since = time.monotonic()
        self._pipe, theirs = context.Pipe()
        # Whatever it spills is gone with it, also where it had no time to clear up.
        self._folder = TemporaryDirectory(prefix="dpce-", ignore_cleanup_errors=True)
        at = theirs, self._folder.name
        self._process = context.Process(target=_serve, args=at, daemon=True)
        self._process.start()
        theirs.close()

    def pack(self, data: Dataset | None) -> tuple[str, Dataset | None] | None:
        """A dataset as it is sent; own data are not kept there."""
        if data is None or not data.public:
            return None if data is None else ("", data)
        if data.identity in self.has:
            return data.identity, None
        self.has = [*self.has, data.identity][-KEEPS:]
        return data.identity, data

    def call(
        self,
        request: _Request,
        notes: Mapping[str, Callable[..., object]],
        stopped: Stopped,
        patience: float,
    ) -> Any:
        """Send, listen, stop; raises _Raised for what the function raised."""
        _send(self._pipe, request)
        told: float | None = None
        while True:
            if told is None and stopped():
                _send(self._pipe, None)
                told = time.monotonic()
            if told is not None and time.monotonic() - told >= patience:
                raise Lost("Stopped: the work did not listen, so its process was ended.")
            if not self._pipe.poll(LOOK):
                continue
            try:
                kind, content = _receive(self._pipe)
            except (EOFError, OSError):
                raise Lost(
                    "The process that did the work came to an end.", self.aborted()
                ) from None
            if kind == "note":
                notes[content[0]](*content[1])
            elif kind == "raised":
                raise _Raised(content)
            else:
                return content

    def aborted(self) -> bool:
        """Whether the process, which is at its end, gave itself up or was ended by the system."""
        self._process.join(PATIENCE)
        return self._process.exitcode in (-signal.SIGABRT, -signal.SIGKILL)

    def end(self) -> None:
        """End the process, whatever it does."""
        if self._process.is_alive():
            os.kill(self._process.pid, signal.SIGKILL)  # loky's processes have no kill()
        self._process.join(PATIENCE)
        self._pipe.close()
        self._folder.cleanup()


# Through the pipe -------------------------------------------------------------------------


_Packed = tuple[bytes, list[memoryview]]


def _packed(what: Any) -> _Packed:
    """As it goes through the pipe: arrays and files as they lie in memory, without a copy."""
    parts: list[pickle.PickleBuffer] = []
    head = pickle.dumps(what, protocol=5, buffer_callback=parts.append)
    return head, [part.raw() for part in parts]


def _deliver(pipe: Any, packed: _Packed) -> None:
    head, views = packed
    pipe.send((head, [view.readonly for view in views]))
    for view in views:
        pipe.send_bytes(view)


def _send(pipe: Any, what: Any) -> None:
    _deliver(pipe, _packed(what))


def _receive(pipe: Any) -> Any:
    """What was sent; what could be written to there can be written to here."""
    head, readonly = pipe.recv()
    parts = [pipe.recv_bytes() if fixed else bytearray(pipe.recv_bytes()) for fixed in readonly]
    return pickle.loads(head, buffers=parts)


# In the process ---------------------------------------------------------------------------


@dataclass
class _Bench:
    """What a process has at hand."""

    pipe: Any
    stop: threading.Event = field(default_factory=threading.Event)
    requests: SimpleQueue[_Request] = field(default_factory=SimpleQueue)
    met: dict[str, Dataset] = field(default_factory=dict)

    def listen(self) -> None:
        """Requests and stops as they come; the server's end is this process's."""
        try:
            while True:
                asked = _receive(self.pipe)
                if asked is None:
                    self.stop.set()
                else:
                    self.stop.clear()
                    self.requests.put(asked)
                del asked
        except (EOFError, OSError):
            os._exit(0)

    def do(self, asked: _Request) -> Any:
        """Call the function; its notes go through the pipe."""
        options: dict[str, Any] = dict(asked.options)
        for name in asked.notes:
            options[name] = lambda *said, name=name: _send(self.pipe, ("note", (name, said)))
        if asked.data is not None:
            options["data"] = self._data(*asked.data)
        return asked.function(*asked.args, cancelled=self.stop.is_set, **options)

    def _data(self, identity: str, data: Dataset | None) -> Dataset:
        if data is None:
            return self.met[identity]
        if identity:
            self.met = {**self.met, identity: data}
            while len(self.met) > KEEPS:
                del self.met[next(iter(self.met))]
        return data


def _serve(pipe: Any, folder: str) -> None:
    os.umask(0o077)
    tempfile.tempdir = folder
    os.nice(5)  # pages go first
    bench = _Bench(pipe)
    threading.Thread(target=bench.listen, daemon=True).start()
    while True:
        _answer(bench)


def _answer(bench: _Bench) -> None:
    """One request; nothing of it is kept until the next, for it may be a person's own."""
    asked = bench.requests.get()
    try:
        answer = _packed(("done", bench.do(asked)))  # which takes memory too
    except Exception as error:
        answer = _packed(("raised", error.with_traceback(None)))
    _deliver(bench.pipe, answer)


# What is done there -----------------------------------------------------------------------

_WORKERS: Workers | None = None


def begin(most: int) -> Workers:
    """From here on heavy work is done in processes."""
    global _WORKERS
    _WORKERS = Workers(most)
    return _WORKERS


def begun() -> bool:
    """Whether heavy work is done in processes."""
    return _WORKERS is not None


def call(
    function: Callable[..., Any],
    *args: Any,
    stopped: Stopped,
    notes: Mapping[str, Callable[..., object]] | None = None,
    long: bool = True,
    once: bool = False,
    patience: float | None = None,
    **options: Any,
) -> Any:
    """The function's result, from a process or, before :func:`begin`, made here.

    ``long``: what stands in no line that bounds how many there are at once; see
    :meth:`Workers.call` for the rest.
    """
    if _WORKERS is None:
        return function(*args, cancelled=stopped, **dict(notes or {}), **options)
    how: dict[str, Any] = {"long": long, "once": once, "patience": patience}
    return _WORKERS.call(function, *args, stopped=stopped, notes=notes, **how, **options)


def beside(function: Callable[..., Any], *args: Any, cancelled: Stopped, **options: Any) -> Any:
    """``function(*args, cancelled=…, **options)``, of work that has had its turn in a line."""
    return call(function, *args, stopped=cancelled, long=False, **options)


def heavy(data: Dataset) -> bool:
    """Whether a search on the data belongs into a process of its own."""
    return _WORKERS is not None and (data.d > SMALL or not data.public)


def searched(
    key: str,
    seed: int | None,
    params: Mapping[str, Any],
    *,
    data: Dataset,
    noted: Callable[[int | None, int], object],
    cancelled: Stopped,
) -> RunResult:
    """A run that says now and then (order, steps so far)."""
    steps, last = 0, 0.0

    def note(step: Step) -> None:
        nonlocal steps, last
        steps += 1
        if time.monotonic() - last > TOLD:
            last = time.monotonic()
            noted(step.order, steps)

    return run(key, data, seed=seed, on_step=note, cancelled=cancelled, **params)


def audited(
    key: str, runs: int, *, watch: Callable[[Measured], None], cancelled: Stopped
) -> CaseResult:
    """The audit of the case with this key: some hold functions that no pipe carries."""
    case = next(one for one in cases(key.partition("/")[0]) if one.key == key)
    return audit(case, runs, cancelled=cancelled, watch=watch)


def rederived(release: Release, *, cancelled: Stopped) -> float:
    """Check a release's file; how far its numbers are from being too good."""
    return check(release)


def repetitions(
    key: str,
    params: Mapping[str, Any],
    seeds: Sequence[int],
    *,
    data: Dataset,
    made: Callable[[Repetition], object],
    cancelled: Stopped,
) -> None:
    """The run with each seed in turn; each is told as it is made."""
    for outcome in repeated(key, data, params, seeds, cancelled):
        made(outcome)


def priced(
    key: str, params: Parameters, *, data: Dataset, cancelled: Stopped
) -> tuple[PriceStep, ...]:
    """What is lost before the noise, step by step."""
    return price_steps(data, key, params)


def filled(
    scene: Scene, *, framed: Callable[[Frame, States], object], cancelled: Stopped
) -> dict[str, list[dict[str, Any]]]:
    """The scene's missing frames, told one by one, and at the end its price's steps."""
    for frame in scene.missing():
        if cancelled():
            return {}
        framed(frame, states_of(scene.run(frame)))
    scene.price()
    return scene.steps


def pictured(
    datasets: Sequence[Dataset],
    setting: Setting,
    *,
    made: Callable[[str, Picture], object],
    cancelled: Stopped,
) -> None:
    """Everything exact of each pair, told as it is made."""
    for data in datasets:
        if cancelled():
            return
        made(data.name, picture(data, setting, 0))
