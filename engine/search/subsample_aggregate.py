"""Subsample and aggregate: G2 and chi2 made private block by block (preprint, Algorithm 6).

It guarantees that one replaced record changes one block, and so at most one vote of the count. The
median of the blocks' p-values has no such bound; its releases are charged by smooth sensitivity.
"""

from __future__ import annotations

import math
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from engine.context import RunContext
from engine.data.dataset import Dataset
from engine.privacy.events import Event, SmoothEvent
from engine.privacy.mechanisms import smooth_beta, smooth_laplace
from engine.randomness import Randomness
from engine.search.noisy_score import NoisyScore, NoisyTestParameters
from engine.search.skeleton import Query
from engine.statistics.base import QueryScores
from engine.statistics.blocks import Blocks, smooth_sensitivity_of_median, votes


class Votes(NoisyScore):
    """How many blocks find independence in G2 or chi2, compared with half of them.

    One replaced record changes one block, so the count has sensitivity 1, on every sample and for
    every query: sound with Laplace and Gaussian noise and in a sparse vector. The tweak lowers the
    share of votes asked for.
    """

    def __init__(self, data: Dataset, params: NoisyTestParameters, randomness: Randomness):
        self.scores = QueryScores(data, params.test, "published")
        self.perturbed, self.strict, self.threshold = "votes", params.strict, params.cutoff
        self._test, self._n = params.test, data.n
        self._count = params.block_count(data.n)
        self._dealt = self._deal(data.n, randomness)
        self._kept: dict[Query, NDArray[np.float64]] = {}

    def sample(self, m: int, randomness: Randomness) -> Blocks:
        """m rows dealt afresh; the run's own blocks where that is all rows."""
        if m >= self._n:
            return self._dealt
        return self._deal(m, randomness)

    def _deal(self, m: int, randomness: Randomness) -> Blocks:
        order = randomness.permutation(self._n)[:m]
        return Blocks.deal(self.scores.store, self._count, order)

    def of(self, q: Query, rows: Any = None) -> float:
        """The number of blocks that find q independent."""
        return float(votes(self.p_values(q, rows), self.threshold))

    def p_values(self, q: Query, rows: Any = None) -> NDArray[np.float64]:
        """Each block's p-value; those of the run's own blocks are kept."""
        if rows is not None and rows is not self._dealt:
            return cast(Blocks, rows).p_values(q.x, q.y, q.given, self._test)
        if q not in self._kept:
            self._kept[q] = self._dealt.p_values(q.x, q.y, q.given, self._test)
        return self._kept[q]

    def cutoff(self, tweak: float = 0.0) -> float:
        """Half of the blocks, less the tweak's share of them."""
        return self._count * max(0.0, 0.5 - tweak)

    def cutoff_at(self, threshold: float) -> float:
        """The threshold applies inside the blocks; between them it scales the half."""
        share = threshold / self.threshold if self.threshold > 0 else 1.0
        return self._count * min(1.0, 0.5 * share)

    def noise_sensitivity(self, q: Query, n: int | None = None) -> float:
        """One record changes one vote."""
        return 1.0

    def defended_ratio(self, q: Query, n: int | None = None) -> float:
        """The sensitivity holds as it is."""
        return 1.0


class Median(Votes):
    """The blocks' median p-value with noise on its smooth sensitivity (preprint, Algorithm 6).

    A release is (epsilon, delta)-DP (:class:`SmoothEvent`). In a sparse vector the noise of every
    negative answer has a scale of its own that depends on the data, and such answers are not free:
    nothing is defended there.
    """

    def __init__(self, data: Dataset, params: NoisyTestParameters, randomness: Randomness):
        super().__init__(data, params, randomness)
        self.perturbed, self.slack = "median", params.delta

    def of(self, q: Query, rows: Any = None) -> float:
        """The median of the blocks' p-values."""
        return float(np.median(self.p_values(q, rows)))

    def cutoff(self, tweak: float = 0.0) -> float:
        """The threshold, less the tweak."""
        return self.cutoff_at(max(0.0, self.threshold - tweak))

    def cutoff_at(self, threshold: float) -> float:
        """The threshold itself."""
        return threshold

    def noise_sensitivity(self, q: Query, n: int | None = None) -> float:
        """The range: used only where no release is drawn from it."""
        return 1.0

    def defended_ratio(self, q: Query, n: int | None = None) -> float:
        """Not bounded in a sparse vector."""
        return math.inf

    def event(self, q: Query, epsilon: float, n: int | None = None) -> Event:
        """What :meth:`release` charges."""
        return SmoothEvent(epsilon, self.slack)

    def release(
        self, context: RunContext, q: Query, epsilon: float, *, label: str, rows: Any = None
    ) -> tuple[float, float]:
        """(released value, exact value): Laplace noise of scale 2 S / epsilon."""
        raw = self.of(q, rows)
        noisy = smooth_laplace(
            context,
            raw,
            smooth_sensitivity=self._smooth(q, rows, epsilon),
            epsilon=epsilon,
            slack=self.slack,
            label=label,
            order=q.order,
        )
        return noisy, raw

    def gap(self, q: Query, rows: Any, tweak: float, epsilon: float) -> tuple[float, float, float]:
        """As the paper's sparse vector, with the smooth sensitivity in the sensitivity's place."""
        return self.of(q, rows), self.cutoff(tweak), self._smooth(q, rows, epsilon)

    def _smooth(self, q: Query, rows: Any, epsilon: float) -> float:
        beta = smooth_beta(epsilon, self.slack)
        return smooth_sensitivity_of_median(self.p_values(q, rows), beta)


def noisy_score(data: Dataset, params: NoisyTestParameters, randomness: Randomness) -> NoisyScore:
    """The chosen test as noise is put on it: a bounded score, or the aggregate by blocks."""
    if not params.test.aggregated:
        return NoisyScore(data, params, params.perturbed)
    return (Votes if params.strict else Median)(data, params, randomness)
