"""Repetitions of the run on screen, made while the page is open; public data only."""

from __future__ import annotations

from dataclasses import dataclass, replace

from engine.studies.price import LossStep
from engine.studies.repeat import Point
from pages.report import work
from pages.report.work import Repetition, repeat
from pages.shell.runs import Shown
from pages.shell.task import Task, shared

PATIENCE = 1.0  # seconds before a page shows the finished part


@dataclass(frozen=True)
class Repeats:
    """Repetitions of one run, and points of a curve over epsilon, as far as they are finished."""

    task: Task

    @property
    def running(self) -> bool:
        """True if more repetitions or points are to come."""
        return not self.task.done

    @property
    def made(self) -> list[Repetition]:
        """The finished repetitions, one per seed."""
        return [part for part in list(self.task.parts) if isinstance(part, Repetition)]

    @property
    def of(self) -> int:
        """The final number of repetitions."""
        return len(self.made) if self.points or self.task.complete else work.REPETITIONS

    @property
    def points(self) -> list[Point]:
        """The finished points of the curve, by epsilon."""
        points = [part for part in list(self.task.parts) if isinstance(part, Point)]
        return sorted(points, key=lambda p: p.epsilon)

    @property
    def steps(self) -> tuple[LossStep, ...]:
        """The edges that are lost before the noise."""
        return next((part for part in list(self.task.parts) if isinstance(part, tuple)), ())


def repeats_of(run: Shown) -> Repeats | None:
    """Return the repetitions of a run, started if needed; None if there is no noise, or if each
    would be charged to a user's budget.
    """
    of = replace(run.request, seed=0)  # repetitions use other seeds
    if not run.data.public or run.data.truth is None or "epsilon" not in of.params:
        return None
    task = shared(("repeats", of.key), "repetitions", repeat, of, run.data, keep=True)
    return Repeats(task)
