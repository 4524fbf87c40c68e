"""Long work: a thread of its own that waits its turn, can be stopped and ends with its readers; a
session's place for it; and how far it is, said alike on every page.
"""

from __future__ import annotations

import math
import threading
import time
from abc import ABC, abstractmethod
from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

import streamlit as st
from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

from engine.errors import InputError
from pages.shell.dialog import OPEN
from pages.shell.palette import RUNNING
from pages.shell.session import Place

GRACE = 20.0  # seconds without a browser after which a session's work ends
LOOK = 2.0  # seconds between two looks for the browser
UNSEEN = 8.0  # seconds without a look after which work that is done for a look alone stops
EVERY = 1.0  # seconds between two looks of a page: each takes time from the work itself
STOPPING = 0.8  # seconds a page waits for work to stop before it goes on looking
SHARE = 20.0  # seconds of work after which a study lets others go first
_TURN = 0.1  # seconds between two looks whether a waiting job was given up

Present = Callable[[], bool]


def here() -> Present:
    """Whether this session's browser is still connected; to be called in a page's script."""
    context = get_script_run_ctx()
    if context is None or not runtime.exists():
        return lambda: True
    server, session = runtime.get_instance(), context.session_id
    return lambda: bool(server.is_active_session(session))


def gone() -> Present:
    """Whether it is not; for what a page waits for without a job."""
    present = here()
    return lambda: not present()


def session() -> str:
    """This session's name; to be called in a page's script."""
    context = get_script_run_ctx()
    return "" if context is None else context.session_id


class Line:
    """At most ``at_once`` jobs work; the others wait, and visitors take turns.

    A visitor's first job comes before anybody's second, the second before anybody's third, and
    those at work count; among equals comes first who had no turn yet, or not for the longest time.
    """

    def __init__(self, at_once: int):
        self._at_once = at_once
        self._jobs: dict[object, Hashable] = {}  # job -> whose it is, in the order they came
        self._working: dict[object, float] = {}  # job -> since when
        self._turns: dict[Hashable, float] = {}  # who is in line -> when they had their last turn
        self._change = threading.Condition()

    def join(self, job: object, whose: Hashable = None) -> None:
        """Stand in line; ``whose`` says which jobs are one visitor's, None: nobody else's."""
        with self._change:
            self._jobs[job] = id(job) if whose is None else whose
            self._admit()

    def turn(self, job: object, given_up: Callable[[], bool]) -> bool:
        """Wait until the job may work; False if it was given up before."""
        with self._change:
            while job not in self._working:
                if given_up():
                    return False
                self._change.wait(_TURN)
        return True

    def give_way(self, job: object, given_up: Callable[[], bool]) -> bool:
        """After its share of time a job lets those who wait go first; False if given up then."""
        with self._change:
            since = self._working.get(job, math.inf)  # inf: it was given up in line
            if time.monotonic() - since < SHARE or not self._waiting():
                return True
            whose = self._jobs.pop(job)
            del self._working[job]
            self._admit()
            self._jobs[job] = whose
            self._admit()
        return self.turn(job, given_up)

    def leave(self, job: object) -> None:
        """Make room."""
        with self._change:
            del self._jobs[job]
            self._working.pop(job, None)
            self._admit()

    def place(self, job: object) -> int:
        """How many turns away the job is: 0 once it works, 1 for the next in line."""
        with self._change:
            waiting = self._waiting()
            return waiting.index(job) + 1 if job in waiting else 0

    def working(self) -> int:
        """How many work."""
        return len(self._working)

    def waiting(self) -> int:
        """How many wait."""
        return len(self._jobs) - len(self._working)

    def _admit(self) -> None:
        for job in self._waiting()[: self._at_once - len(self._working)]:
            self._working[job] = self._turns[self._jobs[job]] = time.monotonic()
        here = set(self._jobs.values())
        self._turns = {whose: at for whose, at in self._turns.items() if whose in here}
        self._change.notify_all()

    def _waiting(self) -> list[object]:
        """Those who wait, the next one first."""
        before = Counter(self._jobs[job] for job in self._working)
        rank = {}
        for job, whose in self._jobs.items():
            if job not in self._working:
                rank[job] = before[whose], self._turns.get(whose, 0.0)
                before[whose] += 1
        return sorted(rank, key=rank.__getitem__)


STUDIES = Line(1)


class Job(ABC):
    """Subclasses say in :meth:`work` what is done; it uses nothing of Streamlit's.

    ``problem`` is one sentence if it could not be done. A job ends once the browsers of all
    sessions that look at it have been away for a while.
    """

    queue: Line = STUDIES  # where it waits for its turn
    reports = False  # whether it works, to stop at once and say so, even if given up in line
    what = ""  # what is being done, as Markdown
    share: float | None = None  # of the work that is done, where that is known
    patience = 0.7  # seconds a page may wait for it before it shows progress instead

    def __init__(self) -> None:
        self.problem = ""
        self._lookers: dict[str, Present] = {}  # session -> whether its browser is there
        self._stop, self._done = threading.Event(), threading.Event()

    @abstractmethod
    def work(self) -> None:
        """Do it, and look at :meth:`stopped` often."""

    def broken(self, error: Exception) -> str:
        """What to say of an error inside the program."""
        return f"The work broke off: {type(error).__name__}."

    def so_far(self) -> list[str]:
        """How far it is, in a few words each."""
        return []

    def start(self) -> None:
        """Begin, or wait in line; to be called in a page's script. Raises nothing: ``problem``."""
        self.join()
        self.queue.join(self, session())
        threading.Thread(target=self._run, daemon=True, name=type(self).__name__).start()
        threading.Thread(target=self._watch, daemon=True, name="watch").start()

    def join(self) -> None:
        """It goes on for this session too; to be called in a page's script."""
        self._lookers[session()] = here()

    def leave(self) -> None:
        """This session looks at something else; what nobody else looks at is stopped."""
        self._lookers.pop(session(), None)
        if not self._lookers and self.running:  # what has ended stays whole
            self.cancel()

    def present(self) -> bool:
        """Whether the browser of any session that looks is connected."""
        return any(look() for look in self._lookers.values())

    def cancel(self, patience: float = 0.0) -> None:
        """Ask it to stop, and wait so long for that; what is finished is kept."""
        self._stop.set()
        self.wait(patience)

    def stopped(self) -> bool:
        """Whether a stop was asked for."""
        return self._stop.is_set()

    def wait(self, seconds: float) -> bool:
        """Wait for the end, at most so long."""
        return self._done.wait(seconds)

    @property
    def running(self) -> bool:
        """Whether the end has not come yet."""
        return not self._done.is_set()

    @property
    def stopping(self) -> bool:
        """Whether a stop was asked for that has not come yet."""
        return self.running and self.stopped()

    @property
    def place(self) -> int:
        """Its place in line, 0 once it works."""
        return self.queue.place(self)

    def give_way(self) -> None:
        """Let others go first, after a share of time; between two parts of the work."""
        self.queue.give_way(self, self.stopped)

    def words(self) -> str:
        """What it is doing and how far it is, in one line of Markdown."""
        if self.place and not self.stopping:
            return f"Waiting for a turn: **{self.what}** · place {self.place} in line"
        verb = "Stopping" if self.stopping else "Running"
        return " · ".join([f"{verb} **{self.what}**", *self.so_far()])

    def _run(self) -> None:
        try:
            if self.queue.turn(self, self.stopped) or self.reports:
                self.work()
        except InputError as error:
            self.problem = str(error)
        except Exception as error:  # a page must not wait for ever for a thread that died
            self.problem = self.broken(error)
        finally:
            self.queue.leave(self)
            self._done.set()

    def _watch(self) -> None:
        away = 0.0
        while not self.wait(LOOK):
            away = 0.0 if self.present() else away + LOOK
            if away >= GRACE:
                self.cancel()
                return


class Watched(Job):
    """A job that is done for whoever looks at it, in whatever session; it stops once nobody does.

    ``whole`` says that nothing more will come of it.
    """

    def __init__(self) -> None:
        super().__init__()
        self.whole = False
        self._seen = time.monotonic()

    def join(self) -> None:
        """Somebody looks."""
        self._seen = time.monotonic()

    def present(self) -> bool:
        """Whether somebody looked a moment ago."""
        return time.monotonic() - self._seen <= UNSEEN

    def stopped(self) -> bool:
        """Whether a stop was asked for, or nobody looks any more."""
        return super().stopped() or not self.present()

    def lasts(self) -> bool:
        """Whether it need not be made anew."""
        return self.running or self.whole or bool(self.problem)

    def until(self, end: float) -> Callable[[], bool]:
        """Whether that moment has come, or the job is stopped."""
        return lambda: time.monotonic() > end or self.stopped()


T = TypeVar("T", bound=Job)
_SHARED = threading.Lock()


def shared(
    store: OrderedDict[Hashable, T],
    key: Hashable,
    fits: Callable[[T], bool],
    make: Callable[[], T],
    most: int = 0,
) -> T:
    """A job that several sessions look at: the one in the store if it ``fits``, else one begun now.

    Of those that have ended, the store keeps the last ``most``.
    """
    with _SHARED:
        found = store.get(key)
        if found is not None and fits(found):
            found.join()
            return found
        store.pop(key, None)  # the new one goes to the end
        store[key] = job = make()
        ended = [k for k, other in store.items() if other is not job and not other.running]
        for old in ended[: max(0, len(ended) - most)]:
            del store[old]
        job.start()
        return job


class Slot(Generic[T]):
    """A session's place for one job of a kind; ``name`` is its key in the session's state."""

    def __init__(self, name: str):
        self._place: Place[T | None] = Place(name)

    def job(self) -> T | None:
        """The job that goes on, or that ended last."""
        return self._place.get()

    def going(self) -> T | None:
        """The job, if it goes on."""
        found = self.job()
        return found if found is not None and found.running else None

    def show(self, job: T) -> None:
        """Put a job there as it is."""
        self._place.put(job)

    def begin(self, job: T, patience: float = 0.0) -> T:
        """Start a job in the place of the one before, which is stopped; wait for it so long."""
        if (before := self.going()) is not None:
            before.cancel()
        self.show(job)
        job.start()
        job.wait(patience)
        return job

    def forget(self) -> None:
        """Empty the place."""
        self._place.put(None)

    def drop(self) -> None:
        """Empty the place; what goes on in it is wanted no more."""
        if (going := self.going()) is not None:
            going.cancel()
        self.forget()

    def watch(self, *, key: str, more: Callable[[T], object] = lambda _: None) -> None:
        """How far the job is, with a button to stop it; ``more`` draws what is known below."""

        def draw(job: T) -> None:
            progress(job, key=key)
            more(job)

        look_again(self.job, draw)


def look_again(
    find: Callable[[], T | None], draw: Callable[[T], None], every: float = EVERY
) -> None:
    """Draw a job again and again; when it has ended, the whole page is drawn anew.

    Under a dialog that waits until the dialog is closed.
    """
    latest: list[T] = []

    @st.fragment(run_every=every)
    def look() -> None:
        job = find()
        if (job is None or not job.running) and not OPEN.get():
            st.rerun()
        latest[:] = [job] if job is not None else latest
        for one in latest:
            draw(one)

    look()


_BAR = f"""<div role="progressbar" aria-label="Running" style="height:6px;border-radius:3px;
background:rgba(128,140,160,.3);overflow:hidden"><div style="height:6px;width:30%;border-radius:3px;
background:{RUNNING};animation:run-bar 1.4s ease-in-out infinite alternate"></div></div>
<style>@keyframes run-bar{{from{{margin-left:0}}to{{margin-left:70%}}}}</style>"""


def progress(job: Job, *, key: str) -> None:
    """A bar, what the job is doing in words, and a button that stops it."""
    with st.container(key="progress", horizontal=True, vertical_alignment="center"):
        with st.container():
            if job.share is None:
                st.html(_BAR)
            else:
                st.progress(min(1.0, job.share))
            st.markdown(job.words())
        st.button(
            "Stopping …" if job.stopping else "Cancel",
            key=key,
            icon=":material/stop_circle:",
            on_click=job.cancel,
            args=(STOPPING,),
            disabled=job.stopping,
            help="Stops it and keeps what was finished until then.",
            width=140,
        )


def left(seconds: float) -> str:
    """How long it will take, in words."""
    least = f"{seconds / 60:.0f} min" if seconds > 120 else f"{max(1.0, seconds):.0f} s"
    return f"about {least} left"
