"""Transcript replay: one run's answers, forced on a neighbouring dataset.

A run is private if its output depends on the data only through its mechanisms' answers, and no
mechanism's input moves by more than its charge covers. A single pair of neighbours shows both: run
on one and force its answers on the other; everything else (the next query, the charges, the trace,
the result) must be the same. Many runs reveal little about a sparse vector, because its negative
answers hardly differ; a replay shows immediately where it leaks.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from engine.algorithm import Algorithm, Outcome
from engine.audit.instrumented import (
    ROUNDING,
    Answer,
    Diverged,
    Instrumented,
    noise_faults,
    run_with,
    without_sampling,
)
from engine.audit.neighbours import Neighbours
from engine.context import Step
from engine.data.dataset import Dataset
from engine.params import Parameters
from engine.privacy import events
from engine.privacy.ledger import Ledger


@dataclass(frozen=True, eq=False)
class Transcript:
    """A run with everything that an audit records; ``left`` says where it left the script."""

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
    """Run once and record every answer; with ``script`` its answers are forced on the run.

    ``share`` below 1 injects a fault: only this share of the charged noise is drawn.
    """
    source = Instrumented(seed, script, share)
    try:
        outcome, session = run_with(source, algorithm, data, params)
    except Diverged as why:
        return Transcript(None, (), Ledger(), tuple(source.answers), left=str(why))
    answers, left = tuple(source.answers), ""
    if script is not None and len(answers) < len(script):
        left = f"it ends after answer {len(answers)} of {len(script)}"
    return Transcript(
        outcome, tuple(session.steps), session.ledger, answers, left, source.unused_draws
    )


@dataclass(frozen=True)
class Finding:
    """The findings of replays: each mechanism's largest change divided by the charged one.

    ``ratios`` maps a charge's label to the largest |change of the exact input| / charged
    sensitivity; a private run has at most 1. ``faults`` has sentences and is empty if nothing is
    wrong.
    """

    ratios: Mapping[str, float] = field(default_factory=dict)
    faults: tuple[str, ...] = ()
    pairs: int = 1

    @property
    def largest(self) -> float:
        """The largest of all ratios, or 0 if nothing was released."""
        return max(self.ratios.values(), default=0.0)

    @property
    def passed(self) -> bool:
        """True if no input moved further than its charge covers and nothing else differed."""
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
    faults = noise_faults(first.answers, first.ledger)
    if first.spare_draws > 1:  # the threshold of a round without a query
        faults.append("noise was drawn that no answer used")
    return Finding(faults=tuple(faults), pairs=0) + compare(first, second)


def compare(first: Transcript, second: Transcript, numbered: bool = False) -> Finding:
    """Return ratios and faults of a run and its replay; ``numbered`` gives each answer a ratio."""
    labels = {id(c.event): c.label for c in first.ledger}
    ratios: dict[str, float] = {}
    for number, (a, b) in enumerate(zip(first.answers, second.answers, strict=False), 1):
        label = labels.get(id(a.event), "not charged")
        name = f"{number}. {label}" if numbered else label
        ratios[name] = max(moved(a, b), ratios.get(name, 0.0))
    faults = differences(first, second) + [
        f"{name}: its input moves by {ratio:.4g} times the sensitivity that was charged"
        for name, ratio in ratios.items()
        if ratio > 1 + ROUNDING
    ]
    return Finding(ratios, tuple(faults))


def moved(a: Answer, b: Answer) -> float:
    """Return |change of the exact input| / charged sensitivity; l2 for Gaussian noise.

    For the release of a stable value, distances in records may move by 1, and the value by the
    length of its interval. A value that one record can move out of its interval is covered by
    delta.
    """
    with np.errstate(invalid="ignore"):  # two equal infinities have not moved
        change = np.abs(np.where(a.exact == b.exact, 0.0, a.exact - b.exact))
    event = without_sampling(a.event)
    if isinstance(event, events.ProposeTestReleaseEvent | events.StableEvent):
        far, length = (1, 0.0) if isinstance(event, events.StableEvent) else (2, event.length)
        stable = max(a.exact[:-1].max(), b.exact[:-1].max()) >= far
        return max(_ratio(change[:-1].max(), 1.0), _ratio(stable * change[-1], length))
    gaussian = isinstance(event, events.GaussianEvent | events.AnalyticGaussianEvent)
    size = np.linalg.norm(change) if gaussian else np.max(change, initial=0.0)
    return _ratio(size, getattr(event, "sensitivity", 0.0))


def _ratio(size: np.floating[Any], paid: float) -> float:
    if size == 0:
        return 0.0
    return float(size / paid) if paid > 0 else float("inf")


def differences(first: Transcript, second: Transcript) -> list[str]:
    """List the differences between a run and its replay, one sentence each."""
    if second.left:
        return [f"control flow: {second.left}"]
    faults = []
    pairs = {
        "the charges differ": (list(first.ledger), list(second.ledger)),
        "the trace differs": (first.steps, second.steps),
        "the result differs": (first.outcome, second.outcome),
    }
    faults = [said for said, (a, b) in pairs.items() if _written(a) != _written(b)]
    hidden = [getattr(one.outcome, "diagnostics", None) for one in (first, second)]
    # Effects and files use fields that a result's line omits.
    if "the result differs" not in faults and _fields(hidden[0]) != _fields(hidden[1]):
        faults.append("hidden contents of the result differ")
    return faults


def _fields(diagnostics: Any) -> str:
    return "" if diagnostics is None else _written(vars(diagnostics))


def _written(thing: Any) -> str:
    """Return all content of a value, to the last digit."""
    with np.printoptions(threshold=sys.maxsize, floatmode="unique"):
        return repr(thing)
