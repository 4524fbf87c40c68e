"""The effect of noise on one test, and the reason that it is stronger for later orders.

It computes exact test statistics of public data, which a private run never releases.
"""

from __future__ import annotations

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
from engine.theory import one_release_probability

THRESHOLD = 0.1  # for the p-value


def strict_score(data: Dataset) -> NoisyScore:
    """Return the strict |z| of Kendall's tau, as a private run computes it; public data only."""
    if not data.public:
        raise InputError("Exact scores are shown for public data only.")
    return NoisyScore(data, PrivPCParameters(statistic="kendall", threshold=THRESHOLD), "z")


def query(data: Dataset, x: str, y: str, given: Sequence[str] = ()) -> Query:
    """Make the query for two columns given others, by name."""
    index = {name: i for i, name in enumerate(data.names)}
    a, b = sorted((index[x], index[y]))
    return Query(a, b, tuple(sorted(index[g] for g in given)))


@dataclass(frozen=True)
class NoisyTest:
    """One test of |z| under Laplace noise for ``epsilon``; all fields are in units of |z|.

    ``exact`` is |z|; below ``level`` (the threshold T) the pair looks independent and its link is
    removed. ``scale`` is the scale b of the noise.
    """

    exact: float
    level: float
    sensitivity: float
    epsilon: float

    @property
    def scale(self) -> float:
        """Scale b = sensitivity / epsilon of the Laplace mechanism."""
        return self.sensitivity / self.epsilon

    @property
    def removed(self) -> float:
        """Probability that the link is removed: P(|z| + Lap(b) < T)."""
        return one_release_probability(self.level - self.exact, self.scale)


def noisy_test(data: Dataset, q: Query, epsilon: float) -> NoisyTest:
    """Return the query's test with all of ``epsilon`` spent on it."""
    if not epsilon > 0:
        raise InputError("Epsilon must be above 0.")
    seen = strict_score(data)
    return NoisyTest(-seen.of(q), -seen.cutoff(), seen.noise_sensitivity(q), epsilon)


@dataclass(frozen=True)
class OrderStrength:
    """The tests of one order in a perfect search, for dependent pairs.

    ``margin`` is the median distance of |z| from the threshold in units of the sensitivity.
    ``flips`` is the mean probability that noise removes one of these links if each test gets
    ``epsilon``.
    """

    order: int
    margin: float
    flips: float


def strengths(data: Dataset, steps: Sequence[Step], epsilon: float) -> list[OrderStrength]:
    """Return one line per order with a dependent pair, from a perfect search (``pc``, "oracle")."""
    truth = QueryScores(data, ORACLE, "published")
    tests: dict[int, list[NoisyTest]] = {}
    for step in steps:
        if step.x is not None and step.y is not None:
            q = query(data, step.x, step.y, step.conditioning_set)
            if truth.full(q).p < 0.25:
                tests.setdefault(len(step.conditioning_set), []).append(
                    noisy_test(data, q, epsilon)
                )
    return [
        OrderStrength(
            order,
            margin=float(np.median([(t.exact - t.level) / t.sensitivity for t in some])),
            flips=float(np.mean([t.removed for t in some])),
        )
        for order, some in sorted(tests.items())
    ]
