"""The effect of noise on one test, and why tests of later orders suffer more from it.

Exact scores of public data, to show numbers that a private run never releases.
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

THRESHOLD = 0.1  # of p


def strict_score(data: Dataset) -> NoisyScore:
    """Return the strict |z| of Kendall's tau, as a private run sees it; for public data only."""
    if not data.public:
        raise InputError("Exact scores are shown for public data alone.")
    return NoisyScore(data, PrivPCParameters(statistic="kendall", threshold=THRESHOLD), "z")


def query(data: Dataset, x: str, y: str, given: Sequence[str] = ()) -> Query:
    """Make the query about two columns given others, by their names."""
    index = {name: i for i, name in enumerate(data.names)}
    a, b = sorted((index[x], index[y]))
    return Query(a, b, tuple(sorted(index[g] for g in given)))


@dataclass(frozen=True)
class NoisyTest:
    """One test of |z| under Laplace noise for ``epsilon``; all in units of |z|.

    ``exact`` is |z|; below ``level`` (the threshold T) the pair looks independent and its link
    is removed. ``scale`` is the noise's b.
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
    def removed(self) -> float:
        """The chance that the link is removed: P(|z| + Lap(b) < T)."""
        return one_release_probability(self.level - self.exact, self.scale)


def noisy_test(data: Dataset, q: Query, epsilon: float) -> NoisyTest:
    """Return the query's test if all of ``epsilon`` were spent on it."""
    if not epsilon > 0:
        raise InputError("Epsilon must be above 0.")
    seen = strict_score(data)
    return NoisyTest(-seen.of(q), -seen.cutoff(), seen.noise_sensitivity(q), epsilon)


@dataclass(frozen=True)
class OrderStrength:
    """The tests of one order that a perfect search asks, between pairs that do depend.

    ``margin`` is the median of how many sensitivities |z| lies above the threshold, ``flips`` the
    mean chance that noise removes such a link if each test gets ``epsilon``.
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
