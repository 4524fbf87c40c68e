"""Transcript replay: one run's answers, forced upon a neighbouring dataset.

A run is private if what it gives out depends on the data through its mechanisms' answers alone,
and no mechanism's input moves by more than it paid for. Both can be seen on a single pair of
neighbours: run on one, force its answers on the other, and everything else (which question comes
next, what is charged, the trace, the result) must be the same. Many runs say little about a sparse
vector, whose negative answers hardly differ; this says at once where it leaks.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from engine.algorithm import Algorithm, Outcome
from engine.audit.neighbours import Neighbours
from engine.audit.watching import (
    ROUNDING,
    Answer,
    Array,
    Diverged,
    WatchingDoors,
    bare,
    noise_faults,
)
from engine.context import RunContext, Step
from engine.data.dataset import Dataset
from engine.params import Parameters
from engine.privacy.events import (
    AnalyticGaussianEvent,
    Event,
    GaussianEvent,
    ProposeTestReleaseEvent,
    StableEvent,
)
from engine.privacy.ledger import Charge, Ledger
from engine.runner import one_thread


@dataclass(frozen=True, eq=False)
class Transcript:
    """A run with everything that an audit sees of it; ``left`` says where it left the script."""

    outcome: Outcome | None
    steps: tuple[Step, ...]
    ledger: Ledger
    answers: tuple[Answer, ...]
    left: str = ""
    spare_draws: int = 0


def transcript(
    algorithm: Algorithm,
    data: Dataset,
    params: Parameters,
    seed: int,
    script: Sequence[Answer] | None = None,
    share: float = 1.0,
) -> Transcript:
    """Run once behind watching doors; with ``script`` its answers are forced upon the run.

    ``share`` below 1 plants a fault: so much of the noise is drawn that is charged.
    """
    ledger = algorithm.ledger(data, params) if algorithm.ledger else Ledger()
    doors = WatchingDoors(seed, ledger, script, share)
    session = RunContext(doors, ledger, data.names)
    outcome, left = None, ""
    try:
        with one_thread():
            outcome = algorithm.run(data, params, session)
    except Diverged as why:
        left = str(why)
    if script is not None and not left and len(doors.answers) < len(script):
        left = f"it ends after answer {len(doors.answers)} of {len(script)}"
    return Transcript(
        outcome, tuple(session.steps), ledger, tuple(doors.answers), left, doors.unused_draws
    )


@dataclass(frozen=True)
class Finding:
    """What replays have shown: per mechanism its largest change over what it paid for.

    ``ratios`` maps a charge's label to the largest |change of the exact input| / charged
    sensitivity; private is at most 1. ``faults`` are sentences, empty if nothing is wrong.
    """

    ratios: Mapping[str, float] = field(default_factory=dict)
    faults: tuple[str, ...] = ()
    pairs: int = 1

    @property
    def largest(self) -> float:
        """The largest ratio of all; 0 where nothing was released."""
        return max(self.ratios.values(), default=0.0)

    @property
    def passed(self) -> bool:
        """Whether nothing moved further than its charge, and nothing else differed."""
        return not self.faults and self.largest <= 1 + ROUNDING

    def __add__(self, other: Finding) -> Finding:
        ratios = dict(self.ratios)
        for label, ratio in other.ratios.items():
            ratios[label] = max(ratio, ratios.get(label, 0.0))
        faults = tuple(dict.fromkeys((*self.faults, *other.faults)))
        return Finding(ratios, faults, self.pairs + other.pairs)


NOTHING = Finding(pairs=0)


def replay(algorithm: Algorithm, pair: Neighbours, params: Parameters, seed: int) -> Finding:
    """Run on one neighbour, force the answers on the other, and compare everything."""
    first = transcript(algorithm, pair.data, params, seed)
    second = transcript(algorithm, pair.other, params, seed, script=first.answers)
    faults = noise_faults(first.answers, first.ledger) + differences(first, second)
    if first.spare_draws > 1:  # the threshold of a round that never got to its first query
        faults.append("noise was drawn that no answer used")
    labels = {id(c.event): c.label for c in first.ledger}
    ratios: dict[str, float] = {}
    for a, b in zip(first.answers, second.answers, strict=False):
        label = labels.get(id(a.event), "not charged")
        ratios[label] = max(moved(a, b), ratios.get(label, 0.0))
    faults += [
        f"{label}: its input moves by {ratio:.4g} times the sensitivity that was charged"
        for label, ratio in ratios.items()
        if ratio > 1 + ROUNDING
    ]
    return Finding(ratios, tuple(faults))


def sees_half_the_noise(
    algorithm: Algorithm, pair: Neighbours, params: Parameters, seed: int
) -> bool:
    """Whether a replay of this run would say so if mechanisms drew half of what they charge."""
    planted = transcript(algorithm, pair.data, params, seed, share=0.5)
    return bool(noise_faults(planted.answers, planted.ledger))


def moved(a: Answer, b: Answer) -> float:
    """|change of the exact input| / charged sensitivity; l2 for Gaussian noise, else entrywise."""
    with np.errstate(invalid="ignore"):  # two that are infinite alike have not moved
        change = np.where(a.exact == b.exact, 0.0, a.exact - b.exact)
    event = bare(a.event)
    if isinstance(event, ProposeTestReleaseEvent | StableEvent):
        return _moved_by_records(a, b, event)
    size = _length(change, event)
    paid = float(getattr(event, "sensitivity", 0.0))
    if size == 0:
        return 0.0
    return size / paid if paid > 0 else float("inf")


def _moved_by_records(a: Answer, b: Answer, event: ProposeTestReleaseEvent | StableEvent) -> float:
    """The larger of two changes over what holds: of a distance 1, of a value that is far enough.

    A value that one record can take out of its interval is delta's business.
    """
    distances = np.abs(a.exact[:-1] - b.exact[:-1])
    far, length = (2, event.length) if isinstance(event, ProposeTestReleaseEvent) else (1, 0.0)
    value = abs(float(a.exact[-1] - b.exact[-1]))
    if value and max(a.exact[:-1].max(), b.exact[:-1].max()) >= far:
        return max(float(distances.max()), value / length if length else float("inf"))
    return float(distances.max())


def _length(change: Array, event: Event) -> float:
    if isinstance(event, GaussianEvent | AnalyticGaussianEvent):
        return float(np.linalg.norm(change))
    return float(np.max(np.abs(change), initial=0.0))


def differences(first: Transcript, second: Transcript) -> list[str]:
    """What differs between a run and its replay, one sentence each."""
    if second.left:
        return [f"control flow: {second.left}"]
    faults = []
    if _charges(first.ledger) != _charges(second.ledger):
        faults.append("the charges differ")
    if _written(first.steps) != _written(second.steps):
        faults.append("the trace differs")
    if _written(first.outcome) != _written(second.outcome):
        faults.append("the result differs")
    elif _unshown(first.outcome) != _unshown(second.outcome):
        faults.append("what the result holds beside what it shows differs")
    return faults


def _unshown(outcome: Outcome | None) -> str:
    """What a result's own line leaves out: effects and files are made of it."""
    return "" if outcome is None else _written(vars(outcome.diagnostics))


def _charges(ledger: Iterable[Charge]) -> list[Charge]:
    return list(ledger)


def _written(thing: Any) -> str:
    """Everything in it, to the last digit."""
    with np.printoptions(threshold=sys.maxsize, floatmode="unique"):
        return repr(thing)
