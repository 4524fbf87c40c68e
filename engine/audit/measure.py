"""A lower bound on epsilon from runs on two neighbours alone: no knowledge of what is inside.

(epsilon, delta) promises P(event on one side) <= e^epsilon P(event on the other) + delta for every
event. A quarter of the runs chooses an event; on the others it is counted, and Clopper-Pearson
limits on the two probabilities bound epsilon from below. A bound above a claim refutes the claim; a
bound below it proves nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from engine.algorithm import Algorithm, Outcome
from engine.audit.neighbours import Neighbours
from engine.audit.planted import FaintDoors
from engine.context import RunContext
from engine.data.dataset import Dataset
from engine.params import Parameters
from engine.privacy.accounting import Guarantee
from engine.privacy.ledger import Ledger
from engine.runner import one_thread

Features = dict[tuple[object, ...], float]
Array = NDArray[np.float64]

NO_CLAIM = Guarantee(0.0, 0.0)
CONFIDENCE = 0.99  # of the bound at any one moment: both limits together miss once in 100
CHOOSING = 4  # every fourth run chooses the event
CUTS = 25  # thresholds tried along a direction
BEST_SINGLE = 12  # single outputs tried as a direction, those that differ most


# What a run lets out ------------------------------------------------------------------


def outputs(outcome: Outcome, session: RunContext) -> Features:
    """Every number and every decision that a run gives out, by what it is about."""
    found: Features = {}
    for step in session.steps:
        about = (step.kind, step.x, step.y, step.given)
        turn = sum(1 for key in found if key[0] == "decision" and key[1:5] == about)
        found["decision", *about, turn, step.decision] = 1.0
        if step.value is not None:
            found["value", *about, turn] = float(step.value)
    for i, j in zip(*np.nonzero(outcome.cpdag), strict=True):
        found["edge", int(i), int(j)] = 1.0
    found["steps",] = float(len(session.steps))
    return found


def one_run(
    algorithm: Algorithm, data: Dataset, params: Parameters, seed: int, share: float = 1.0
) -> tuple[Features, Guarantee]:
    """What one run lets out, and what it claims: the paper's total, or the strict cap.

    ``share`` below 1 plants a fault: so much of the noise is drawn that is charged.
    """
    ledger = algorithm.ledger(data, params) if algorithm.ledger else Ledger()
    session = RunContext(FaintDoors(seed, share), ledger, data.names)
    with one_thread():
        outcome = algorithm.run(data, params, session)
    return outputs(outcome, session), outcome.claimed or ledger.defended


# Events -------------------------------------------------------------------------------


def limits(hits: int, runs: int, level: float) -> tuple[float, float]:
    """Clopper-Pearson limits on a probability, each missed with at most ``level``."""
    low = float(betaincinv(hits, runs - hits + 1, level)) if hits else 0.0
    high = float(betaincinv(hits + 1, runs - hits, 1 - level)) if hits < runs else 1.0
    return low, high


def bound_of(more: int, less: int, runs: int, delta: float, level: float) -> float:
    """Lower bound on epsilon from an event's counts on the two sides, at least 0."""
    low, high = limits(more, runs, level)[0], limits(less, runs, level)[1]
    return math.log((low - delta) / high) if low - delta > high else 0.0


def matrix(sides: Sequence[Sequence[Features]]) -> tuple[Array, Array]:
    """The two sides' outputs as rows of numbers; what a run did not let out counts as 0."""
    keys = sorted({key for side in sides for one in side for key in one}, key=repr)
    where = {key: j for j, key in enumerate(keys)}
    made = [np.zeros((len(side), len(keys))) for side in sides]
    for side, rows in zip(sides, made, strict=True):
        for i, one in enumerate(side):
            for key, value in one.items():
                rows[i, where[key]] = value
    return made[0], made[1]


def directions(a: Array, b: Array) -> list[Array]:
    """Where to look: single outputs that differ most, and Fisher's discriminant of all of them."""
    spread = np.sqrt((a.var(axis=0) + b.var(axis=0)) / 2)
    gap = b.mean(axis=0) - a.mean(axis=0)
    moved = np.divide(gap, spread, out=np.sign(gap) * 1e6, where=spread > 0)
    found = []
    for j in np.argsort(-np.abs(moved))[:BEST_SINGLE]:
        if moved[j] != 0:
            found.append(np.eye(len(gap))[j])
    use = np.abs(moved) > 0
    if use.any():
        unit = np.where(spread > 0, spread, 1.0)
        both = np.concatenate([a - a.mean(axis=0), b - b.mean(axis=0)])[:, use] / unit[use]
        covariance = both.T @ both / len(both) + 0.05 * np.eye(int(use.sum()))
        fisher = np.zeros(len(gap))
        fisher[use] = np.linalg.solve(covariance, gap[use] / unit[use]) / unit[use]
        found.append(fisher)
    return found


@dataclass(frozen=True, eq=False)
class Region:
    """All outputs with ``sign`` * (outputs . direction) > cut."""

    direction: Array
    cut: float
    sign: float

    def holds(self, rows: Array) -> NDArray[np.bool_]:
        """Of which rows it is true."""
        inside: NDArray[np.bool_] = self.sign * (rows @ self.direction) > self.cut
        return inside


def choose(a: Array, b: Array, delta: float) -> tuple[Region, bool] | None:
    """The event with the largest bound on these rows, and whether it is likelier on side b."""
    best, found, level = 0.0, None, (1 - CONFIDENCE) / 2
    for direction in directions(a, b):
        scores = np.unique(np.concatenate([a @ direction, b @ direction]))
        middles = (scores[1:] + scores[:-1]) / 2
        if len(middles) > CUTS:
            middles = np.quantile(middles, np.linspace(0.01, 0.99, CUTS))
        for cut in middles:
            for sign in (1.0, -1.0):
                event = Region(direction, sign * float(cut), sign)
                hits = int(event.holds(a).sum()), int(event.holds(b).sum())
                value = bound_of(max(hits), min(hits), len(a), delta, level)
                if value > best:
                    best, found = value, (event, hits[1] > hits[0])
    return found


# A trial that grows -------------------------------------------------------------------


@dataclass(frozen=True)
class Measured:
    """What the runs so far show: ``epsilon`` is at least this, at ``delta``, with 99 %.

    ``claimed`` is the largest epsilon that a run stated; ``hits`` are how often the event happened
    on either side among ``counted`` runs a side that did not choose it.
    """

    epsilon: float
    delta: float
    claimed: float
    runs: int
    counted: int
    hits: tuple[int, int]

    @property
    def refuted(self) -> bool:
        """Whether the claim cannot be true (but for the bound's one chance in a hundred)."""
        return self.epsilon > self.claimed


@dataclass(eq=False)
class Trial:
    """Runs of one algorithm on two neighbours; ``extend`` adds runs, ``measured`` reads them off.

    ``share`` is that of the noise that is drawn: below 1 a planted fault. Every run has a seed of
    its own: no noise is shared, neither between the sides nor the runs.
    """

    algorithm: Algorithm
    params: Parameters
    pair: Neighbours
    seed: int = 0
    share: float = 1.0
    claim: Guarantee = NO_CLAIM
    sides: tuple[list[Features], list[Features]] = field(default_factory=lambda: ([], []))

    def extend(self, runs: int, cancelled: Callable[[], bool] = lambda: False) -> None:
        """Add runs on each side; when cancelled, stops with as many on one as on the other."""
        for _ in range(runs):
            if cancelled():
                return
            number = len(self.sides[0])
            both = (self.pair.data, self.pair.other)
            found = [
                one_run(
                    self.algorithm, data, self.params, self.seed + 2 * number + side, self.share
                )
                for side, data in enumerate(both)
            ]
            for side, (features, claim) in zip(self.sides, found, strict=True):
                side.append(features)
                self.claim = Guarantee(
                    max(self.claim.epsilon, claim.epsilon), max(self.claim.delta, claim.delta)
                )

    @property
    def runs(self) -> int:
        """Runs on each side so far."""
        return len(self.sides[0])

    def measured(self, runs: int | None = None) -> Measured:
        """The bound from the runs so far, or from the first ``runs`` of them."""
        a, b = matrix([side[:runs] for side in self.sides])
        chooses = np.arange(len(a)) % CHOOSING == 0
        counted = int((~chooses).sum())
        delta = self.claim.delta
        nothing = Measured(0.0, delta, self.claim.epsilon, len(a), counted, (0, 0))
        if counted == 0:
            return nothing
        found = choose(a[chooses], b[chooses], delta)
        if found is None:
            return nothing
        event, on_b = found
        hits = int(event.holds(a[~chooses]).sum()), int(event.holds(b[~chooses]).sum())
        more, less = (hits[1], hits[0]) if on_b else hits
        value = bound_of(more, less, counted, delta, (1 - CONFIDENCE) / 2)
        return replace(nothing, epsilon=value, hits=hits)


def trial(
    algorithm: Algorithm,
    pair: Neighbours,
    values: Mapping[str, object],
    seed: int = 0,
    share: float = 1.0,
) -> Trial:
    """A trial of the algorithm with these parameters by name; seeds from ``seed`` on."""
    return Trial(algorithm, algorithm.params.build(values), pair, seed, share)
