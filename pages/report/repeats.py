"""Repetitions of the run on screen, made while somebody looks; public data only."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Hashable

import streamlit as st

from engine.studies.price import PriceStep, price_steps
from engine.studies.repeat import Point, Repetition, around, point, repeated
from pages.shell.job import Line, Watched, shared
from pages.shell.runs import Shown

REPETITIONS, PER_POINT = 100, 15
SECONDS = 12.0  # for the repetitions, and again for the curve
PATIENCE = 1.0  # seconds that a page waits before it shows what is there
_KEPT = 32


class Repeats(Watched):
    """Repetitions of one run, and points of a curve over epsilon; both grow while it works."""

    queue = Line(1)

    def __init__(self, run: Shown) -> None:
        super().__init__()
        self.run = run
        self.outcomes: list[Repetition] = []
        self.points: list[Point] = []
        self.steps: tuple[PriceStep, ...] = ()

    def broken(self, error: Exception) -> str:
        """The thread has no one else to tell."""
        return f"The repetitions failed inside the program ({type(error).__name__})."

    def work(self) -> None:
        """The repetitions, then the curve."""
        self._repeat()
        result = self.run.result
        self.steps = price_steps(self.run.data, result.algorithm, result.params)
        self._curve()
        self.whole = not self.stopped()

    def _repeat(self) -> None:
        stop = self.until(time.monotonic() + SECONDS)
        settings = self.run.settings
        for outcome in repeated(
            settings.algorithm, self.run.data, settings.asked, range(REPETITIONS), stop
        ):
            self.outcomes.append(outcome)

    def _curve(self) -> None:
        settings = self.run.settings
        middle = float(settings.params["epsilon"])
        stop = self.until(time.monotonic() + SECONDS)
        # From the run's own epsilon outwards, so that an early end leaves the middle.
        for epsilon in sorted(around(middle), key=lambda e: max(e / middle, middle / e)):
            params = {**settings.asked, "epsilon": epsilon}
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
    key = (run.data.identity, run.settings.algorithm, tuple(run.settings.asked.items()))
    return shared(_store(), key, Repeats.lasts, lambda: Repeats(run), _KEPT)


@st.cache_resource(show_spinner=False)
def _store() -> OrderedDict[Hashable, Repeats]:
    """Shared by all sessions: public data only."""
    return OrderedDict()
