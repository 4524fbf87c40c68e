"""One pair looked at without noise, and what noise would do to it: for pages, on public data.

Everything here reads the data exactly. Nothing of it is private.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from engine.algorithms.anm import AnmParameters
from engine.data.dataset import Dataset
from engine.pairs.columns import Halves, Pair, pair_of
from engine.pairs.decision import IQR_SIGNS, Reach, Residuals, Setting
from engine.pairs.dependence import PAPER_SCORES, log_iqr
from engine.pairs.regression import Ridge, Vector
from engine.pairs.votes import MARGIN_SENSITIVITY, votes
from engine.randomness import Randomness
from engine.theory import (
    direction_probability,
    iqr_direction_probability,
    one_release_probability,
)

# A vote's rows of a block and score, by epsilon.
Ballot = Callable[[float], tuple[int, str]]

CURVE_POINTS = 161
DELTA = 1e-6
IQR_PARTS = 12  # of a strict total: four IQRs of three parts each


@dataclass(frozen=True, eq=False)
class Exhibit:
    """A pair, its split and both fits. Columns in units in which the bounds are -1 and 1."""

    data: Dataset
    setting: Setting
    order: np.ndarray  # how the rows are dealt
    pair: Pair
    rest: Residuals

    @classmethod
    def of(cls, data: Dataset, setting: Setting, seed: int) -> Exhibit:
        """The split that a run with this seed makes."""
        pair = pair_of(data)
        order = Randomness(seed).permutation(data.n)
        halves = Halves(order[: data.n // 2], order[data.n // 2 :])
        return cls(data, setting, order, pair, Residuals.of(pair, halves, setting))

    @property
    def sign(self) -> float:
        """1 if the first column is the cause, -1 if the second; without a truth 0."""
        if self.data.truth is None:
            return 0.0
        return 1.0 if tuple(self.data.names) in self.data.truth.edges else -1.0

    def curves(self) -> tuple[Vector, Vector, Vector]:
        """(grid, fit of y on x, fit of x on y) over [-1, 1]."""
        grid = np.linspace(-1.0, 1.0, CURVE_POINTS)
        train = self.pair.rows(self.order[: self.data.n // 2])
        forward = Ridge.fit(train.x, train.y, self.setting.width)
        backward = Ridge.fit(train.y, train.x, self.setting.width)
        ridge = self.setting.ridge
        return grid, forward.predict(grid, ridge), backward.predict(grid, ridge)

    def scores(self, name: str) -> tuple[float, float]:
        """(s of x -> y, s of y -> x), exactly."""
        return self.rest.scores(name, self.setting.score_width)


@dataclass(frozen=True)
class Chance:
    """A way to release: its exact gap (above 0: first column), and what noise makes of it.

    ``gap(epsilon)`` is what a release at that strict total lays its noise over: a vote's blocks
    change with epsilon. ``probability(epsilon)`` that the answer names the first column as the
    cause.
    """

    name: str
    release: str
    gap: Callable[[float], float]
    probability: Callable[[float], float]


def chances(shown: Exhibit, ballot: Ballot) -> list[Chance]:
    """The paper's four scores, the difference of the root of HSIC, and the vote."""
    found = [_two_scores(shown, name) for name in PAPER_SCORES if name != "iqr"]
    return [*found, _iqr(shown), _difference(shown), _vote(shown, ballot)]


def _two_scores(shown: Exhibit, name: str) -> Chance:
    forward, backward = shown.scores(name)
    gap = backward - forward
    each = shown.setting.sensitivity(name, shown.rest.n, shown.rest.m)
    return Chance(
        name,
        "scores",
        lambda epsilon: gap,
        lambda epsilon: direction_probability(gap, 2 * each / epsilon),
    )


def _difference(shown: Exhibit) -> Chance:
    forward, backward = shown.scores("root_hsic")
    gap = backward - forward
    both = 2 * shown.setting.sensitivity("root_hsic", shown.rest.n, shown.rest.m)
    return Chance(
        "root_hsic",
        "difference",
        lambda epsilon: gap,
        lambda epsilon: one_release_probability(gap, both / epsilon),
    )


def _iqr(shown: Exhibit) -> Chance:
    """A withheld IQR counts one half."""
    x, of_y, y, of_x = shown.rest.ordered
    gap = log_iqr(y) + log_iqr(of_x) - log_iqr(x) - log_iqr(of_y)
    shift, test = shown.setting.shift(shown.rest.n), shown.setting.test
    moves = (0.0, shift, 0.0, shift)
    reaches = [
        max(Reach((column,), IQR_SIGNS[:1], (move,), test).distances())
        for column, move in zip(shown.rest.ordered, moves, strict=True)
    ]

    def probability(epsilon: float) -> float:
        step = epsilon / IQR_PARTS
        threshold = 1 + math.log(4 / DELTA) / step
        passed = math.prod(_above(reach - threshold, 1 / step) for reach in reaches)
        return 0.5 + passed * (iqr_direction_probability(gap, 1 / step) - 0.5)

    return Chance("iqr", "scores", lambda epsilon: gap, probability)


def _above(lead: float, scale: float) -> float:
    """P(lead + Lap(scale) > 0), of the larger of two distances alone."""
    tail = math.exp(-abs(lead) / scale) / 2
    return 1 - tail if lead > 0 else tail


def _vote(shown: Exhibit, ballot: Ballot) -> Chance:
    margins: dict[tuple[int, str], float] = {}

    def margin(epsilon: float) -> float:
        rows, name = ballot(epsilon)
        if (rows, name) not in margins:
            margins[rows, name] = float(votes(shown.pair, shown.order, rows, name).sum())
        return margins[rows, name]

    def probability(epsilon: float) -> float:
        return one_release_probability(margin(epsilon), MARGIN_SENSITIVITY / epsilon)

    return Chance("vote", "vote", margin, probability)


def over_ridge(
    data: Dataset, setting: Setting, seed: int, ridges: Sequence[float], epsilon: float
) -> list[tuple[float, float]]:
    """Figure 2: (published HSIC, difference of its root) by lambda, the training half protected.

    Probabilities of the true direction; where none is known, of the most regular fit's.
    """
    out = []
    for ridge in ridges:
        shown = Exhibit.of(data, replace(setting, ridge=ridge, protect="training"), seed)
        side = shown.sign or 1.0
        forward, backward = shown.scores("hsic")
        published = replace(shown.setting, variant="published")
        each = published.sensitivity("hsic", shown.rest.n, shown.rest.m)
        root = math.sqrt(backward) - math.sqrt(forward)
        both = 2 * shown.setting.sensitivity("root_hsic", shown.rest.n, shown.rest.m)
        out.append(
            (
                direction_probability(side * (backward - forward), each / epsilon),
                one_release_probability(side * root, both / epsilon),
            )
        )
    return out


def agreement(chance: Chance, sign: float, epsilon: float) -> float:
    """Probability of the true direction (``sign``), or without a truth of the noiseless answer."""
    first = chance.probability(epsilon)
    return first if (sign or chance.gap(epsilon)) > 0 else 1 - first


# What a page shows ------------------------------------------------------------------------------

EPSILONS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
MOST_POINTS = 1_500  # of a scatter


@dataclass(frozen=True)
class Way:
    """One way to release, as numbers: see :class:`Chance`.

    ``scores`` are the exact ones of (first -> second, second -> first), None of a vote, which has
    a margin alone; ``unit`` is the noise scale of one released number at a total of 1. ``gaps``,
    above 0 where the first column looks like the cause, and the probabilities ``right`` are at
    :data:`EPSILONS`.
    """

    name: str
    release: str
    scores: tuple[float, float] | None
    unit: float
    gaps: tuple[float, ...]
    right: tuple[float, ...]

    def gap(self, epsilon: float) -> float:
        """The gap at one of :data:`EPSILONS`."""
        return self.gaps[EPSILONS.index(epsilon)]

    def chance(self, epsilon: float) -> float:
        """``right`` at one of :data:`EPSILONS`."""
        return self.right[EPSILONS.index(epsilon)]


@dataclass(frozen=True, eq=False)
class Picture:
    """Everything exact that a page draws of one pair; picklable, so that it can be kept."""

    grid: Vector
    forward: Vector
    backward: Vector
    x: Vector
    y: Vector
    of_y: Vector
    of_x: Vector
    ways: tuple[Way, ...]
    sign: float


def picture(data: Dataset, setting: Setting, seed: int) -> Picture:
    """Fits, residuals, scores and probabilities of one pair; the vote is as a run makes it."""
    shown = Exhibit.of(data, setting, seed)

    def ballot(epsilon: float) -> tuple[int, str]:
        params = AnmParameters(epsilon=epsilon)
        return params.block_rows(data.n), params.measures(data.n)

    grid, forward, backward = shown.curves()
    some = slice(0, MOST_POINTS)
    rest = shown.rest
    ways = tuple(_way(shown, chance) for chance in chances(shown, ballot))
    return Picture(
        grid, forward, backward, rest.x[some], rest.y[some], rest.of_y[some], rest.of_x[some], ways,
        shown.sign,
    )  # fmt: skip


def _way(shown: Exhibit, chance: Chance) -> Way:
    gaps = tuple(chance.gap(epsilon) for epsilon in EPSILONS)
    right = tuple(agreement(chance, shown.sign, epsilon) for epsilon in EPSILONS)
    vote = chance.release == "vote"
    scores = None if vote else shown.scores(chance.name)
    return Way(chance.name, chance.release, scores, _unit(shown, chance), gaps, right)


def _unit(shown: Exhibit, chance: Chance) -> float:
    """The noise scale of one released number at a total of 1."""
    if chance.release == "vote":
        return MARGIN_SENSITIVITY
    if chance.name == "iqr":
        return float(IQR_PARTS)
    return 2 * shown.setting.sensitivity(chance.name, shown.rest.n, shown.rest.m)
