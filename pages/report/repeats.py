"""Repetitions of the run on screen, made in a thread while somebody looks; public data only."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field

import streamlit as st

from engine import InputError
from engine.studies.repeat import Outcome, Point, around, point, repeated
from pages.shell.runs import Shown

REPETITIONS, PER_POINT = 100, 15
SECONDS = 12.0  # for the repetitions, and again for the curve
PATIENCE = 1.0  # seconds that a page waits before it shows what is there
UNSEEN = 8.0  # seconds without a look after which the work stops
_KEPT = 32
_ONE_AT_A_TIME = threading.Semaphore(1)
_LOCK = threading.Lock()


@dataclass(eq=False)
class Repeats:
    """Repetitions of one run, and points of a curve over epsilon; both grow while it works."""

    run: Shown
    outcomes: list[Outcome] = field(default_factory=list)
    points: list[Point] = field(default_factory=list)
    problem: str = ""
    whole: bool = False  # nothing more will come
    _seen: float = field(default_factory=time.monotonic)
    _done: threading.Event = field(default_factory=threading.Event)

    def start(self) -> None:
        """Begin; raises nothing, see ``problem``."""
        threading.Thread(target=self._work, daemon=True, name="repeats").start()

    def wait(self, seconds: float) -> bool:
        """Wait for the end, at most so long; says that somebody is looking."""
        self._seen = time.monotonic()
        return self._done.wait(seconds)

    @property
    def running(self) -> bool:
        """Whether more may come."""
        return not self._done.is_set()

    def _left_alone(self) -> bool:
        return time.monotonic() - self._seen > UNSEEN

    def _until(self, end: float) -> Callable[[], bool]:
        return lambda: time.monotonic() > end or self._left_alone()

    def _work(self) -> None:
        try:
            with _ONE_AT_A_TIME:
                self._repeat()
                self._curve()
            self.whole = not self._left_alone()
        except InputError as error:
            self.problem, self.whole = str(error), True
        except Exception as error:  # the thread has no one else to tell
            self.problem = f"The repetitions failed inside the program ({type(error).__name__})."
        finally:
            self._done.set()

    def _repeat(self) -> None:
        stop = self._until(time.monotonic() + SECONDS)
        settings = self.run.settings
        for outcome in repeated(
            settings.algorithm, self.run.data, settings.params, range(REPETITIONS), stop
        ):
            self.outcomes.append(outcome)

    def _curve(self) -> None:
        settings = self.run.settings
        middle = float(settings.params["epsilon"])
        stop = self._until(time.monotonic() + SECONDS)
        # From the run's own epsilon outwards, so that an early end leaves the middle.
        for epsilon in sorted(around(middle), key=lambda e: max(e / middle, middle / e)):
            params = {**settings.params, "epsilon": epsilon}
            seeds = range(PER_POINT)
            found = list(repeated(settings.algorithm, self.run.data, params, seeds, stop))
            if len(found) < PER_POINT:
                return
            self.points = sorted([*self.points, point(epsilon, found)], key=lambda p: p.epsilon)


def repeats_of(run: Shown) -> Repeats | None:
    """The repetitions of a run, begun if need be; None where there is no noise to repeat, or where
    each would spend a person's budget.
    """
    if not run.data.public or run.data.truth is None or "epsilon" not in run.settings.params:
        return None
    key = (run.data.identity, run.settings.algorithm, tuple(run.settings.params.items()))
    store = _store()
    with _LOCK:
        found = store.get(key)
        if found is None or not (found.running or found.whole):
            found = store[key] = Repeats(run)
            found.start()
            while len(store) > _KEPT:
                store.popitem(last=False)
    return found


@st.cache_resource(show_spinner=False)
def _store() -> OrderedDict[Hashable, Repeats]:
    """Shared by all sessions: public data only."""
    return OrderedDict()
