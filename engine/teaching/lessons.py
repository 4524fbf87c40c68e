"""What noise does to one test, and why tests of later orders suffer more from it.

Exact scores of public data, to show what a private run never releases.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine.algorithms.priv_pc import PrivPCParameters
from engine.context import Step
from engine.data.dataset import Dataset
from engine.errors import InputError
from engine.search.noisy_score import NoisyScore
from engine.search.skeleton import Query
from engine.statistics.base import QueryScores
from engine.statistics.oracle import ORACLE


def strict_score(data: Dataset, threshold: float, statistic: str = "kendall") -> NoisyScore:
    """Strict |z| evidence, as a private run sees a query."""
    if not data.public:
        raise InputError("Exact scores are shown for public data alone.")
    params = PrivPCParameters(statistic=statistic, threshold=threshold)
    return NoisyScore(data, params, "z")


def query(data: Dataset, x: str, y: str, given: Sequence[str] = ()) -> Query:
    """The question by names."""
    index = {name: i for i, name in enumerate(data.names)}
    a, b = sorted((index[x], index[y]))
    return Query(a, b, tuple(sorted(index[g] for g in given)))


@dataclass(frozen=True)
class NoisyTest:
    """One test of |z| under Laplace noise for ``epsilon``; all in units of |z|.

    ``exact`` is |z|; below ``level`` (the threshold T) the pair looks independent and its link
    goes. ``scale`` is the noise's b.
    """

    exact: float
    level: float
    sensitivity: float
    epsilon: float

    @property
    def scale(self) -> float:
        """b = sensitivity / epsilon, the Laplace mechanism's."""
        return self.sensitivity / self.epsilon

    @property
    def right(self) -> bool:
        """Whether the link goes without noise."""
        return self.exact < self.level

    @property
    def removed(self) -> float:
        """The chance that the link goes with noise: P(|z| + Lap(b) < T)."""
        return laplace_below(self.level - self.exact, self.scale)

    @property
    def flipped(self) -> float:
        """The chance that noise turns the decision."""
        return 1 - self.removed if self.right else self.removed


def noisy_test(data: Dataset, q: Query, epsilon: float, *, threshold: float = 0.1) -> NoisyTest:
    """The query's test if ``epsilon`` were spent on it alone."""
    if not epsilon > 0:
        raise InputError("Epsilon must be above 0.")
    seen = strict_score(data, threshold)
    return NoisyTest(
        exact=-seen.of(q),
        level=-seen.cutoff(),
        sensitivity=seen.noise_sensitivity(q),
        epsilon=epsilon,
    )


def laplace_density(x: float, scale: float) -> float:
    """Density of Laplace(scale) at x."""
    return math.exp(-abs(x) / scale) / (2 * scale)


def laplace_below(x: float, scale: float) -> float:
    """P(Laplace(scale) < x)."""
    tail = math.exp(-abs(x) / scale) / 2
    return 1 - tail if x >= 0 else tail


@dataclass(frozen=True)
class OrderStrength:
    """The tests of one order that a perfect search asks, between pairs that do depend.

    Medians over them: |z|, and how many sensitivities it lies above the threshold. ``flips`` is
    the mean chance that noise takes such a link away if each test gets ``epsilon``.
    """

    order: int
    tests: int
    dependent: int
    strength: float
    margin: float
    flips: float


def strengths(
    data: Dataset, steps: Sequence[Step], epsilon: float, *, threshold: float = 0.1
) -> list[OrderStrength]:
    """One line an order of a perfect search's trace (``pc`` with ``statistic="oracle"``)."""
    truth = QueryScores(data, ORACLE, "published")
    asked: dict[int, list[Query]] = {}
    for step in steps:
        if step.x is not None and step.y is not None:
            asked.setdefault(len(step.given), []).append(query(data, step.x, step.y, step.given))
    out = []
    for order, every in sorted(asked.items()):
        real = [q for q in every if truth.full(q).p < 0.25]
        tests = [noisy_test(data, q, epsilon, threshold=threshold) for q in real]
        if not tests:
            out.append(OrderStrength(order, len(every), 0, math.nan, math.nan, math.nan))
            continue
        margins = [(t.exact - t.level) / t.sensitivity for t in tests]
        out.append(
            OrderStrength(
                order=order,
                tests=len(every),
                dependent=len(real),
                strength=float(np.median([t.exact for t in tests])),
                margin=float(np.median(margins)),
                flips=float(np.mean([t.removed for t in tests])),
            )
        )
    return out
