"""Repetitions of the run on screen, made while somebody looks; public data only."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from typing import Any

import streamlit as st

from engine.studies.price import PriceStep
from engine.studies.repeat import Point, Repetition, around, point
from pages.host import apart
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
        self.steps = apart.call(
            apart.priced,
            *(result.algorithm, result.params),
            data=self.run.data,
            stopped=self.stopped,
        )
        self._curve()
        self.whole = not self.stopped()

    def _repeat(self) -> None:
        stop = self.until(time.monotonic() + SECONDS)
        self._each(self.run.settings.asked, REPETITIONS, stop, self.outcomes.append)

    def _each(
        self,
        params: Mapping[str, Any],
        count: int,
        stop: Callable[[], bool],
        made: Callable[[Repetition], None],
    ) -> None:
        apart.call(
            apart.repetitions,
            *(self.run.settings.algorithm, dict(params), range(count)),
            data=self.run.data,
            stopped=stop,
            notes={"made": made},
        )

    def _curve(self) -> None:
        settings = self.run.settings
        middle = float(settings.params["epsilon"])
        stop = self.until(time.monotonic() + SECONDS)
        # From the run's own epsilon outwards, so that an early end leaves the middle.
        for epsilon in sorted(around(middle), key=lambda e: max(e / middle, middle / e)):
            found: list[Repetition] = []
            self._each({**settings.asked, "epsilon": epsilon}, PER_POINT, stop, found.append)
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
