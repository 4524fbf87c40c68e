"""Long work of a page: in a separate process, with a progress bar and a button that stops it.

The work is a function ``fn(monitor, *args)``, see :mod:`pages.worker`. A process that does not
return soon after a stop is killed. It takes no other task meanwhile.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import streamlit as st
from joblib import cpu_count
from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

from engine.errors import InputError
from pages import worker
from pages.shell import answers
from pages.shell.state import Place
from pages.shell.words import plain
from pages.worker import LOOK, Process, Reporter

GRACE = 20.0  # seconds without a browser after which a session's task ends
UNSEEN = 8.0  # seconds after which a task ends that no session started and no page asks for
PATIENCE = 0.5  # seconds that a task has to return after a stop, before its process is killed
AT_ONCE = 0.0  # seconds that it waits for a shared task; more in tests
SHORT = 0.7  # seconds that a page waits for a task before it draws the progress bar
STOPPING = 0.8  # seconds that a page waits for a stop
EVERY = 1.0  # seconds between two checks of a page
LONG = 3  # long tasks at once
MEMORY = 2_000_000_000  # bytes of all working processes, for all users: see docs/guide/host.md
_KEPT = 64  # results of tasks that sessions share
ENDED = "The worker process ended, perhaps because of a lack of memory. Start the work again."

# In the server ----------------------------------------------------------------------------


class Line:
    """Tasks in order of arrival: the first ``most`` work, the others wait."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.tasks: list[Task] = []


# Short work does not wait for long work. HERE is for very short work, which the server does itself.
RUNS, STUDIES, HERE = Line(cpu_count()), Line(LONG), Line(cpu_count())
_door, _working = threading.Lock(), set["Task"]()


@dataclass(eq=False)
class Task:
    """Work that a page started. A ``done`` task has a ``result``, or a ``problem`` in words.

    ``title`` is Markdown. ``parts`` are the work's reports on the way, in order. ``error`` is
    the InputError that the work raised, if any.
    """

    title: str
    call: tuple[Callable[..., Any], tuple[Any, ...]]
    line: Line = STUDIES
    ended: Callable[[Task], object] = lambda task: None  # called in the task's thread
    patience: float = PATIENCE
    grace: float = GRACE
    about: Any = None  # for the page, if the arguments do not contain it
    share: float | None = None
    phrase: str = ""
    taken: int = 0  # bytes that its process may use while it works
    key: Hashable = None  # the key of its answer, if sessions share it
    keep: bool = False  # its answer outlives the server
    parts: list[Any] = field(default_factory=list)
    result: Any = None
    problem: str = ""
    error: InputError | None = None
    _lookers: dict[str, Callable[[], bool]] = field(default_factory=dict)
    _stop: threading.Event = field(default_factory=threading.Event)
    _over: threading.Event = field(default_factory=threading.Event)
    _seen: float = field(default_factory=time.monotonic)
    _began: float = field(default_factory=time.monotonic)

    @property
    def args(self) -> tuple[Any, ...]:
        """The arguments of its work without the monitor."""
        return self.call[1]

    @property
    def done(self) -> bool:
        """True if it has ended."""
        return self._over.is_set()

    @property
    def place(self) -> int:
        """Its position in the queue, 0 once it works."""
        before = list(self.line.tasks)
        waits = self in before and self not in _working
        return max(1, before.index(self) + 1 - self.line.most) if waits else 0

    def _admitted(self) -> bool:
        """Return whether its turn has come and there is enough memory, or nothing else is
        running."""
        taken = 0 if self.line is HERE else worker.memory(*self.args)
        with _door:
            room = MEMORY - sum(task.taken for task in _working)
            if self.line.tasks.index(self) >= self.line.most or (_working and taken > room):
                return False
            self.taken = taken
            _working.add(self)
            return True

    @property
    def complete(self) -> bool:
        """True if it has a result that no stop cut short."""
        return self.done and not self.problem and not self.stopping

    @property
    def useful(self) -> bool:
        """True if it has a whole result, or goes on to one."""
        return self.complete or not (self.done or self.stopping)

    @property
    def stopping(self) -> bool:
        """True if a stop was asked for."""
        return self._stop.is_set()

    def wait(self, seconds: float) -> bool:
        """Wait for its end for at most ``seconds``; return whether it ended."""
        return self._over.wait(seconds)

    def outcome(self) -> Any:
        """Wait for its end and return its result; raise InputError with its problem."""
        while not self.wait(0.5):
            self.touch()
        if self.problem:
            raise InputError(self.problem)
        return self.result

    def stop(self, seconds: float = 0.0) -> None:
        """Ask it to stop, and wait for its end."""
        self._stop.set()
        self.wait(seconds)

    def stopped(self) -> bool:
        """Return whether it should stop, because of a request or because all browsers have left."""
        now = time.monotonic()
        if any(present() for present in list(self._lookers.values())):
            self._seen = now
        grace = self.grace if self._lookers else UNSEEN
        if now - self._seen > grace:
            self._stop.set()
        return self.stopping

    def touch(self) -> None:
        """Record that a page asked for it."""
        self._seen = time.monotonic()

    def join(self) -> None:
        """Keep it running for this session, too."""
        name, present = _session()
        self._lookers[name] = present

    def leave(self) -> None:
        """Release it from this session; it stops if no other session needs it."""
        self._lookers.pop(_session()[0], None)
        if not self._lookers and not self.done:
            self.stop()

    def words(self) -> str:
        """Return its progress as Markdown."""
        if self.place and not self.stopping:
            return f"Waiting for a turn: **{self.title}** · place {self.place} in line"
        verb = "Stopping" if self.stopping else "Running"
        said = [f"{verb} **{self.title}**", self.phrase, f"{time.monotonic() - self._began:.0f} s"]
        return " · ".join(filter(None, said))

    def begin(self) -> None:
        """Join the queue, and work in a thread that ends with the server."""
        self.line.tasks.append(self)
        threading.Thread(target=self._work, daemon=True, name="task").start()

    def _work(self) -> None:
        try:
            while not self._admitted():
                if self.stopped():
                    raise InputError("Stopped before its turn.")
                time.sleep(LOOK)
            self._began = time.monotonic()
            self.result = self._perform()
        except InputError as error:
            self.error, self.problem = error, str(error)
        except (EOFError, OSError):
            self.problem = "Stopped." if self.stopping else ENDED
        except Exception as error:
            self.problem = f"The work failed inside the program ({type(error).__name__})."
        finally:
            self.line.tasks.remove(self)
            _working.discard(self)
            with suppress(Exception):
                self.ended(self)
            whole = not (self.problem or self.stopping) and self.result  # else some is missing
            # Packed before a session gets it, because readers of a result add computed values to
            # it.
            packed = answers.packed((self.parts, self.result)) if self.keep and whole else b""
            self._over.set()
        answers.put(self.key, packed)

    def answered(self) -> bool:
        """Use the stored answer if there is one, which ends the task."""
        found = answers.get(self.key) if self.keep else None
        if found is not None:
            self.parts, self.result = found
            self._over.set()
        return found is not None

    def _perform(self) -> Any:
        if self.line is HERE or not worker.in_use():
            fn, args = self.call
            return fn(Reporter(self._progress, self.stopped, self.parts.append), *args)
        process = worker.take()
        try:
            process.pipe.send(self.call)
            kind, content = self._follow(process)
        except BaseException:
            process.end()
            raise
        worker.give_back(process)
        if kind == "error":
            raise content
        return content

    def _follow(self, process: Process) -> tuple[str, Any]:
        asked = 0.0
        while True:
            if process.pipe.poll(LOOK):
                kind, content = process.pipe.recv()
                if kind == "part":
                    self.parts.append(content)
                elif kind == "progress":
                    self._progress(*content)
                else:
                    return kind, content
            if not asked and self.stopped():
                asked = time.monotonic()
                process.pipe.send(None)
            if asked and time.monotonic() - asked > self.patience:
                raise EOFError

    def _progress(self, share: float | None, phrase: str) -> None:
        self.share = self.share if share is None else min(1.0, share)
        self.phrase = phrase or self.phrase


def _session() -> tuple[str, Callable[[], bool]]:
    """This session's name, and whether its browser is connected."""
    context = get_script_run_ctx()
    if context is None or not runtime.exists():
        return "", lambda: True
    server, session = runtime.get_instance(), context.session_id
    return session, lambda: bool(server.is_active_session(session))


# On a page --------------------------------------------------------------------------------

OPEN: Place[bool] = Place("dialog", bool)  # true while a dialog is open; a redrawn page has none


# The server's tasks with a key, the most recently requested last.
_lock, _shared = threading.Lock(), OrderedDict[Hashable, Task]()


def shared(key: Hashable, title: str, fn: Callable[..., Any], *args: Any, **options: Any) -> Task:
    """Return the server's task for ``key``: a running or complete one, else a new one.

    This is for work on public data, which a page requests again while it needs it. With ``keep`` a
    whole result outlives the server.
    """
    new = None
    with _lock:
        task = _shared.get(key)
        if task is None or not task.useful:
            new = task = _shared[key] = Task(title, (fn, args), key=key, **options)
        _shared.move_to_end(key)
        done = [k for k, other in _shared.items() if other.done]
        for old in done[: max(0, len(_shared) - _KEPT)]:
            del _shared[old]
    if new is not None and not new.answered():
        new.begin()
    task.touch()
    task.wait(AT_ONCE)
    return task


def known(key: Hashable) -> bool:
    """Return whether the server has the answer for ``key``, or works on it."""
    task = _shared.get(key)
    return (task is not None and task.useful) or answers.has(key)


def find(name: str) -> Task | None:
    """Return the session's task of that name, at work or done."""
    found: Task | None = st.session_state.get(f"task-{name}")
    return found


def start(
    name: str,
    title: str,
    fn: Callable[..., Any],
    *args: Any,
    key: Hashable = None,
    wait: float | None = None,
    **options: Any,
) -> Task:
    """Start a task as the session's task of that name, and stop the previous one.

    With a ``key``, sessions that ask for the same share one task. ``options`` are fields of Task.
    """
    if key is None:
        task = Task(title, (fn, args), **options)
    else:
        task = shared(key, title, fn, *args, **options)
    task.join()
    before = find(name)
    if before is not None and before is not task:
        before.leave()
    st.session_state[f"task-{name}"] = task
    if key is None:
        task.begin()
    task.wait(SHORT if wait is None else wait)
    return task


def resume(name: str, *call: Any, key: Hashable, begin: bool, **options: Any) -> Task | None:
    """Return the session's task of that name, or the server's for ``key`` if it has one.

    With ``begin``, start one as :func:`start` does if there is none.
    """
    found = find(name)
    other = key is not None and (found is None or (found.done and found.key != key))
    if begin or (other and known(key)):
        return start(name, *call, key=key, **options)
    return found


def drop(name: str) -> None:
    """Forget the session's task of that name, which is no longer needed."""
    if (task := find(name)) is not None:
        task.leave()
        del st.session_state[f"task-{name}"]


_BAR = """<div role="progressbar" aria-label="Running" style="height:6px;border-radius:3px;
background:rgba(128,140,160,.3);overflow:hidden"><div style="height:6px;width:30%;border-radius:3px;
background:#2f7fd0;animation:run-bar 1.4s ease-in-out infinite alternate"></div></div>
<style>@keyframes run-bar{from{margin-left:0}to{margin-left:70%}}</style>"""


def watch(
    name: str, more: Callable[[Task], object] = lambda task: None, at: str = ""
) -> Task | None:
    """Return the session's task of that name once it is done; until then show a bar and a button.

    ``more`` draws the parts so far below the bar; ``at`` names the place of one of two bars.
    """
    task = find(name)
    if task is None or task.done:
        return task

    bar(name, more, at)
    return None


def show_problem(task: Task, stopped: str = "") -> None:
    """Say why an ended task has no whole result; a stop is no error.

    Args:
        task: The task.
        stopped: The sentence about a stop; the task's problem by default.
    """
    if problem := (task.stopping and stopped) or task.problem:
        say, mark = (st.warning, "stop_circle") if task.stopping else (st.error, "error")
        say(plain(problem), icon=f":material/{mark}:")


@contextmanager
def faded(key: str, *, old: bool) -> Iterator[None]:
    """Draw an answer, grey if it belongs to another form."""
    st.html(f"<style>.st-key-{key}{{opacity:{0.4 if old else 1}}}</style>")
    with st.container(key=key):
        yield


def bar(name: str, more: Callable[[Task], object] = lambda task: None, at: str = "") -> None:
    """Show the bar of the session's task as if it were running; the next update sees its end."""
    task = find(name)
    assert task is not None

    def draw() -> None:
        key = f"{name}{at}-stop"
        with st.container(key=f"{key}-bar", horizontal=True, vertical_alignment="center"):
            with st.container():
                if task.share is None:
                    st.html(_BAR)
                else:
                    st.progress(task.share)
                st.markdown(task.words())
            st.button(
                "Stopping …" if task.stopping else "Cancel",
                key=key,
                icon=":material/stop_circle:",
                on_click=task.stop,
                args=(STOPPING,),
                disabled=task.stopping,
                help="Stops the work and keeps its finished parts.",
                width=140,
            )
        more(task)

    redraw_until_done(lambda: [task], draw, going=True)


def redraw_until_done(
    find: Callable[[], Sequence[Task]],
    draw: Callable[[], object],
    every: float = EVERY,
    going: bool | None = None,
) -> None:
    """Draw repeatedly while one of the tasks is running, then draw the whole page once more.

    While a dialog is open this waits, because drawing the page would close it.
    """
    if going is None:  # otherwise the page was drawn as if they were
        going = not all(task.done for task in find())

    if not going:
        with st.container():  # in the place of the fragment, so that no element is mounted again
            draw()
        return
    looked: list[bool] = []

    @st.fragment(run_every=every)
    def look() -> None:
        # Not while the page is drawn, because the rest of the page would miss a press of its
        # button.
        tasks = find() if looked else ()
        for task in tasks:
            task.touch()
        if looked and all(task.done for task in tasks) and not OPEN.get():
            st.empty()  # follow a link that was pressed meanwhile; st.rerun would stay
            st.rerun()
        draw()
        looked.append(True)

    look()
