"""One pair without noise, and the effect of noise on it; for pages about public data.

All functions read exact data and give no privacy.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from engine.algorithms.anm import AnmParameters
from engine.data.dataset import Dataset
from engine.pairs.columns import Halves, Pair, pair_of
from engine.pairs.decision import Residuals, Setting, reaches
from engine.pairs.protocol import IQR_PARTS
from engine.pairs.regression import Ridge, Vector
from engine.pairs.votes import MARGIN_SENSITIVITY, votes
from engine.randomness import Randomness
from engine.theory import (
    direction_probability,
    iqr_direction_probability,
    one_release_probability,
)

CURVE_POINTS = 161
DELTA = 1e-6
EPSILONS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
MOST_POINTS = 1_500  # in a scatter plot


@dataclass(frozen=True)
class Way:
    """One mechanism for a pair, in numbers.

    ``scores`` are the exact scores of (first -> second, second -> first); None for a vote, which
    has only a margin. ``unit`` is the noise scale of one released number at a total of 1. ``gaps``
    and ``right`` have one value per epsilon in :data:`EPSILONS`, because the blocks of a vote
    change with epsilon. A gap above 0 favours the first column as the cause. ``right`` is the
    probability of the true direction, or of the noiseless answer if the truth is unknown.
    """

    name: str
    release: str
    scores: tuple[float, float] | None
    unit: float
    gaps: tuple[float, ...]
    right: tuple[float, ...]

    def gap(self, epsilon: float) -> float:
        """Return the gap at one of :data:`EPSILONS`."""
        return self.gaps[EPSILONS.index(epsilon)]

    def chance(self, epsilon: float) -> float:
        """Return ``right`` at one of :data:`EPSILONS`."""
        return self.right[EPSILONS.index(epsilon)]


@dataclass(frozen=True, eq=False)
class Picture:
    """All exact numbers that a page draws about one pair; picklable for the cache.

    Columns are in units in which the bounds are -1 and 1. ``sign`` is 1 if the first column is the
    cause, -1 if the second is, 0 if the truth is unknown. ``forward`` is the fit of y on x over
    ``grid``.
    """

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
    """Compute fits, residuals, scores and probabilities of one pair on the split of a run."""
    pair, halves, rest = _fitted(data, setting, seed)
    grid, train = np.linspace(-1.0, 1.0, CURVE_POINTS), pair.rows(halves.training)
    forward, backward = (
        Ridge.fit(cause, effect, setting.width).predict(grid, setting.ridge)
        for cause, effect in ((train.x, train.y), (train.y, train.x))
    )
    sign, some = _sign(data), slice(0, MOST_POINTS)
    order = np.concatenate([halves.training, halves.test])
    ways = [*_by_scores(rest, setting), _by_vote(data, pair, order)]
    shown = tuple(
        replace(
            way,
            right=tuple(
                p if (sign or gap) > 0 else 1 - p
                for gap, p in zip(way.gaps, way.right, strict=True)
            ),
        )
        for way in ways
    )
    columns = (rest.x[some], rest.y[some], rest.of_y[some], rest.of_x[some])
    return Picture(grid, forward, backward, *columns, shown, sign)


def _fitted(data: Dataset, setting: Setting, seed: int) -> tuple[Pair, Halves, Residuals]:
    pair, halves = pair_of(data), Halves.split(data.n, Randomness(seed))
    return pair, halves, Residuals.fit(pair, halves, setting)


def _sign(data: Dataset) -> float:
    if data.truth is None:
        return 0.0
    return 1.0 if tuple(data.names) in data.truth.edges else -1.0


def _by_scores(rest: Residuals, setting: Setting) -> Iterator[Way]:
    """Yield the paper's four scores and the difference of HSIC's root for the first column.

    An IQR that is not released counts one half.
    """
    for name in ("spearman", "kendall", "hsic", "iqr", "root_hsic"):
        forward, backward = rest.scores(name, setting.score_width)
        gap, unit = backward - forward, 4.0 * IQR_PARTS  # the ε of a strict run pays for four IQRs
        if name == "iqr":
            chance = _iqr_chance(rest, setting)
        else:
            unit = 2 * setting.sensitivity(name, rest.n, rest.m)
            chance = one_release_probability if name == "root_hsic" else direction_probability
        release = "difference" if name == "root_hsic" else "scores"
        right = tuple(chance(gap, unit / epsilon) for epsilon in EPSILONS)
        yield Way(name, release, (forward, backward), unit, (gap,) * len(EPSILONS), right)


def _iqr_chance(rest: Residuals, setting: Setting) -> Callable[[float, float], float]:
    far = [max(reach.distances()) for reach in reaches(rest, setting)]

    def chance(gap: float, scale: float) -> float:
        """Return the chance of a right answer; the larger of two distances decides for all four."""
        threshold = 1 + math.log(4 / DELTA) * scale
        passed = math.prod(one_release_probability(r - threshold, scale) for r in far)
        return 0.5 + passed * (iqr_direction_probability(gap, scale) - 0.5)

    return chance


def _by_vote(data: Dataset, pair: Pair, order: np.ndarray) -> Way:
    """Vote as in a run: blocks and score follow from epsilon and n."""
    margins: dict[tuple[int, str], float] = {}
    gaps, right = [], []
    for epsilon in EPSILONS:
        params = AnmParameters(epsilon=epsilon)
        key = params.block_rows(data.n), params.measures(data.n)
        if key not in margins:
            margins[key] = float(votes(pair, order, *key).sum())
        gaps.append(margins[key])
        right.append(one_release_probability(margins[key], MARGIN_SENSITIVITY / epsilon))
    return Way("vote", "vote", None, MARGIN_SENSITIVITY, tuple(gaps), tuple(right))


def over_ridge(
    data: Dataset, setting: Setting, seed: int, ridges: Sequence[float], epsilon: float
) -> list[tuple[float, float]]:
    """Compute figure 2: (published HSIC, difference of its root) by lambda.

    The training half is protected. The values are probabilities of the true direction; if it is
    unknown, of that of the most regular fit.
    """
    out, side = [], _sign(data) or 1.0
    for ridge in ridges:
        at = replace(setting, ridge=ridge, protect="training")
        rest = _fitted(data, at, seed)[2]
        forward, backward = rest.scores("hsic", at.score_width)
        each = replace(at, variant="published").sensitivity("hsic", rest.n, rest.m)
        both = 2 * at.sensitivity("root_hsic", rest.n, rest.m)
        root = math.sqrt(backward) - math.sqrt(forward)
        out.append(
            (
                direction_probability(side * (backward - forward), each / epsilon),
                one_release_probability(side * root, both / epsilon),
            )
        )
    return out
