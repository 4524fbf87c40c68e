"""A lower bound on epsilon from runs on two neighbours, treated as black boxes.

(epsilon, delta)-DP means P(event on one side) <= e^epsilon P(event on the other) + delta for every
event. A quarter of the runs is used to choose an event, and the other runs to count it.
Clopper-Pearson limits on the two probabilities bound epsilon from below. A bound above a claim
refutes the claim; a bound below it proves nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from engine.algorithm import Algorithm, Outcome
from engine.audit.instrumented import Instrumented, run_with
from engine.audit.neighbours import Neighbours
from engine.context import RunContext
from engine.monitor import QUIET, Monitor
from engine.params import Parameters
from engine.privacy.accounting import Guarantee

Features = dict[tuple[object, ...], float]
Array = NDArray[np.float64]

NO_CLAIM = Guarantee(0.0, 0.0)
CONFIDENCE = 0.99  # of the bound at any one time: with probability 1 in 100 a limit is wrong
CHOOSING = 4  # every fourth run is used to choose the event
CUTS = 25  # thresholds tried along a direction
BEST_SINGLE = 12  # single outputs tried as a direction, those that differ most


# The output of a run ------------------------------------------------------------------


def outputs(outcome: Outcome, session: RunContext) -> Features:
    """Return every number and every decision that a run releases, by its subject."""
    found: Features = {}
    for step in session.steps:
        about = (step.kind, step.x, step.y, step.conditioning_set)
        turn = sum(1 for key in found if key[0] == "decision" and key[1:5] == about)
        found["decision", *about, turn, step.decision] = 1.0
        if step.value is not None:
            found["value", *about, turn] = float(step.value)
    for i, j in zip(*np.nonzero(outcome.matrix), strict=True):
        found["edge", int(i), int(j)] = 1.0
    found["steps",] = float(len(session.steps))
    return found


# Events -------------------------------------------------------------------------------


def limits(hits: int, runs: int, level: float) -> tuple[float, float]:
    """Return Clopper-Pearson limits on a probability, each wrong in at most ``level`` of cases."""
    low = float(betaincinv(hits, runs - hits + 1, level)) if hits else 0.0
    high = float(betaincinv(hits + 1, runs - hits, 1 - level)) if hits < runs else 1.0
    return low, high


def bound_of(more: int, less: int, runs: int, delta: float, level: float) -> float:
    """Return the lower bound on epsilon, at least 0, from an event's counts on the two sides."""
    low, high = limits(more, runs, level)[0], limits(less, runs, level)[1]
    return math.log((low - delta) / high) if low - delta > high else 0.0


def matrix(sides: Sequence[Sequence[Features]]) -> tuple[Array, Array]:
    """Arrange both sides' outputs as rows of numbers; a missing output counts as 0."""
    keys = sorted({key for side in sides for one in side for key in one}, key=repr)
    rows = [[[one.get(key, 0.0) for key in keys] for one in side] for side in sides]
    a, b = (np.array(side).reshape(len(side), len(keys)) for side in rows)
    return a, b


def directions(a: Array, b: Array) -> list[Array]:
    """Choose directions: the single outputs that differ most, and Fisher's discriminant of all."""
    spread = np.sqrt((a.var(axis=0) + b.var(axis=0)) / 2)
    gap = b.mean(axis=0) - a.mean(axis=0)
    moved = np.divide(gap, spread, out=np.sign(gap) * 1e6, where=spread > 0)
    largest = np.argsort(-np.abs(moved))[:BEST_SINGLE]
    found = [np.eye(len(gap))[j] for j in largest if moved[j] != 0]
    use = np.abs(moved) > 0
    if use.any():
        unit = np.where(spread > 0, spread, 1.0)
        both = np.concatenate([a - a.mean(axis=0), b - b.mean(axis=0)])[:, use] / unit[use]
        covariance = both.T @ both / len(both) + 0.05 * np.eye(int(use.sum()))
        fisher = np.zeros(len(gap))
        fisher[use] = np.linalg.solve(covariance, gap[use] / unit[use]) / unit[use]
        found.append(fisher)
    return found


def choose(a: Array, b: Array, delta: float) -> tuple[Array, float, bool] | None:
    """Choose the event, outputs · direction > cut, with the largest bound on these rows.

    Returns its direction and cut, and whether it is likelier on side b, or None if no event has a
    bound.
    """
    best, found, level = 0.0, None, (1 - CONFIDENCE) / 2
    for direction in directions(a, b):
        on_a, on_b = a @ direction, b @ direction
        values = np.unique(np.concatenate([on_a, on_b]))
        middles = (values[1:] + values[:-1]) / 2
        if len(middles) > CUTS:
            middles = np.quantile(middles, np.linspace(0.01, 0.99, CUTS))
        for cut in middles:
            for sign in (1.0, -1.0):
                hits = [int((sign * side > sign * cut).sum()) for side in (on_a, on_b)]
                value = bound_of(max(hits), min(hits), len(a), delta, level)
                if value > best:
                    best, found = value, (sign * direction, sign * float(cut), hits[1] > hits[0])
    return found


# A trial that grows -------------------------------------------------------------------


@dataclass(frozen=True)
class Measured:
    """The result so far: ``epsilon`` is a lower bound at ``delta`` with confidence 99 %.

    ``claimed`` is the largest epsilon claimed by a run. ``hits`` counts the event on either side
    among ``counted`` runs per side that were not used to choose it.
    """

    epsilon: float
    delta: float
    claimed: float
    runs: int
    counted: int
    hits: tuple[int, int]

    @property
    def refuted(self) -> bool:
        """True if the claim is refuted (the bound is wrong once in a hundred)."""
        return self.epsilon > self.claimed


@dataclass(eq=False)
class Trial:
    """Runs of one algorithm on two neighbours; ``extend`` adds runs, ``measured`` evaluates them.

    ``share`` is the share of the noise that is drawn; below 1 it is an injected fault. Every run
    has a separate seed, so no noise is shared between sides or runs.
    """

    algorithm: Algorithm
    params: Parameters
    pair: Neighbours
    seed: int = 0
    share: float = 1.0
    claim: Guarantee = NO_CLAIM
    sides: tuple[list[Features], list[Features]] = field(default_factory=lambda: ([], []))

    def extend(self, runs: int, monitor: Monitor = QUIET) -> None:
        """Add runs on each side; if stopped, both sides have the same number."""
        for _ in range(runs):
            if monitor.stopped():
                return
            number = len(self.sides[0])
            for side, data in enumerate((self.pair.data, self.pair.other)):
                source = Instrumented(self.seed + 2 * number + side, share=self.share, by_row=False)
                outcome, session = run_with(source, self.algorithm, data, self.params)
                self.sides[side].append(outputs(outcome, session))
                claim = outcome.claimed or session.ledger.proven
                self.claim = Guarantee(
                    max(self.claim.epsilon, claim.epsilon), max(self.claim.delta, claim.delta)
                )

    @property
    def runs(self) -> int:
        """The number of runs per side so far."""
        return len(self.sides[0])

    def measured(self) -> Measured:
        """Return the bound from the runs so far."""
        a, b = matrix(self.sides)
        chooses = np.arange(len(a)) % CHOOSING == 0
        counted, delta = int((~chooses).sum()), self.claim.delta
        nothing = Measured(0.0, delta, self.claim.epsilon, len(a), counted, (0, 0))
        found = choose(a[chooses], b[chooses], delta) if counted else None
        if found is None:
            return nothing
        direction, cut, on_b = found
        here, there = (int((side[~chooses] @ direction > cut).sum()) for side in (a, b))
        likelier = (there, here) if on_b else (here, there)
        value = bound_of(*likelier, counted, delta, (1 - CONFIDENCE) / 2)
        return replace(nothing, epsilon=value, hits=(here, there))
