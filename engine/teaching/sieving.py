"""The input of Priv-PC's sieve: exact statistics of many queries, and its noise (2020, section 3).

The values are exact, so they are no releases.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from engine.algorithms.priv_pc import PrivPCParameters
from engine.data.dataset import Dataset
from engine.search.noisy_score import NoisyScore
from engine.search.skeleton import Query
from engine.statistics.base import QueryScores, critical_z
from engine.statistics.oracle import ORACLE
from engine.statistics.registry import STATISTICS
from engine.theory import sieve_epsilon

MOST_QUERIES = 3_000  # shown in the chart
Array = NDArray[np.float64]


@dataclass(frozen=True)
class Sieve:
    """A sieve: statistic ("p" or "z"), threshold on the p scale, tweak, and epsilon per round."""

    statistic: str
    guarantee: str
    scale: str
    threshold: float
    tweak: float
    epsilon: float

    def noise(self, data: Dataset, m: int) -> tuple[float, float, float]:
        """Return the scales of query and threshold noise on m rows, and the sd of a comparison.

        The query has order 0 and the two columns with the most levels.
        """
        params = PrivPCParameters(
            statistic=self.statistic,
            guarantee=self.guarantee,
            score=self.scale,
            threshold=self.threshold,
        )
        x, y = sorted(sorted(range(data.d), key=lambda c: -data.cardinalities[c])[:2])
        sensitivity = NoisyScore(data, params, self.scale).noise_sensitivity(Query(x, y, ()), m)
        unit = sensitivity / sieve_epsilon(self.epsilon, data.n, m)
        a, b = 4 * unit, 2 * unit
        return a, b, math.sqrt(2 * (a * a + b * b))

    def levels(self) -> tuple[float, float]:
        """Return (T, T - t) in units of the statistic; for |z| the p-value's critical value."""
        if self.scale == "p":
            return self.threshold, max(0.0, self.threshold - self.tweak)
        low = max(1e-12, self.threshold - self.tweak)
        return critical_z(self.threshold), critical_z(low)


def queries(d: int) -> list[Query]:
    """Return all queries of order 0 and 1, or evenly spaced ones, at most half of order 0."""
    zeros = [Query(x, y, ()) for x, y in combinations(range(d), 2)]
    ones = [Query(q.x, q.y, (z,)) for q in zeros for z in range(d) if z not in (q.x, q.y)]
    shown = zeros[:: math.ceil(len(zeros) / (MOST_QUERIES // 2))]
    return shown + ones[:: max(1, math.ceil(len(ones) / (MOST_QUERIES - len(shown))))]


def exact_scores(data: Dataset, statistic: str, guarantee: str, scale: str) -> tuple[Array, Array]:
    """Return p or |z| of every query, and 1 if the true graph separates it (else 0 or NaN).

    NaN means that the true graph is unknown. Both have shape (queries,), in the order of
    :func:`queries`.
    """
    scores = QueryScores(data, STATISTICS[statistic], guarantee)
    every = queries(data.d)
    found = [scores.full(q) for q in every]
    if scale == "p":
        values = [s.cautious_p for s in found]
    else:
        values = [abs(s.statistic) if s.testable else math.nan for s in found]
    truth = np.full(len(every), np.nan)
    if data.truth is not None:
        oracle = QueryScores(data, ORACLE, "published")
        truth = np.array([float(oracle.full(q).p > 0.25) for q in every])
    return np.array(values), truth
