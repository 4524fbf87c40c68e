"""A query's score for a private algorithm: one number, its threshold and its sensitivity.

In strict mode one replaced record is guaranteed to move the number by at most
``noise_sensitivity``, so the charge for a release is exactly what its noise covers. In published
mode noise is calibrated to the paper's sensitivity, and the charge uses the proven one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from engine.context import RunContext
from engine.data.dataset import Dataset
from engine.params import ParameterError, again, param
from engine.privacy.budget import PrivateBudget, PublishedForm
from engine.privacy.events import Event, LaplaceEvent, SmoothEvent
from engine.privacy.ledger import Ledger
from engine.privacy.mechanisms import AboveThreshold, laplace, smooth_beta, smooth_laplace
from engine.randomness import Randomness
from engine.search.pc import SearchParameters
from engine.search.skeleton import Query
from engine.statistics.base import QueryScores, critical_z, p_sensitivity
from engine.statistics.blocks import (
    Blocks,
    default_blocks,
    odd,
    smooth_sensitivity_of_median,
    votes,
)
from engine.statistics.registry import AGGREGATED, BOUNDED
from engine.tables.store import draw


@dataclass(frozen=True, kw_only=True)
class PrivateParameters(PrivateBudget, SearchParameters):
    """Budget and guarantee of the PC loop."""

    def ledger(self, method: str) -> Ledger:
        """Return the ledger: the total is a cap in strict mode; published mode has no cap."""
        return Ledger(self.total, method=method) if self.strict else Ledger(delta=self.delta)


@dataclass(frozen=True, kw_only=True)
class TwoForms(PublishedForm, PrivateParameters):
    """The published forms of the PC loop."""

    def rows(self, data: Dataset) -> Dataset:
        """Return the data as the form reads them: the programs sort levels alphabetically."""
        return data.alphabetical if self.programmed else data


def differs(what: str) -> Any:
    """Declare ``form`` with the program's differences from the text."""
    return again(
        TwoForms,
        "form",
        help="Published: the paper's text, or the program of its authors, which made the printed "
        f"numbers. The program puts a column's levels in alphabetical order{what}.",
    )


# A block has few rows and little power, so a stricter level than that of a single test would lose
# weak edges. The vote over the blocks, not the level, protects against chance.
BLOCK_THRESHOLD = 0.10


@dataclass(frozen=True, kw_only=True)
class NoisyTestParameters(PrivateParameters):
    """Adds the choice of the number with noise: a rank score, or a block aggregate of G² or χ²."""

    score: str = param(
        "auto",
        choices=("auto", "p", "z"),
        title="Perturbed score",
        help="Noise on the p-value, as published, or on |z|, which has a stronger signal. 'auto' "
        "is p in published mode and z in strict mode.",
        when={"statistic": BOUNDED},
    )
    blocks: int | str = param(
        "auto",
        kind="int",
        words=("auto",),
        low=3,
        high=10_001,
        tuned=(3, 301),
        title="Blocks",
        help="G² and χ² run in this many random blocks of rows (made odd). Strict: how many blocks "
        "find independence, a count that one record changes by 1. Published: the median p-value "
        "with its smooth sensitivity. 'auto' is n / 1000, at least 11.",
        when={"statistic": AGGREGATED},
    )

    @property
    def cutoff(self) -> float:
        """The threshold as a number; inside blocks "auto" is :data:`BLOCK_THRESHOLD`."""
        if isinstance(self.threshold, str) and self.test.aggregated:
            return BLOCK_THRESHOLD
        return super().cutoff

    @property
    def perturbed(self) -> str:
        """The perturbed score, with "auto" resolved."""
        return {"auto": "z" if self.strict else "p"}.get(self.score, self.score)

    def block_count(self, n: int) -> int:
        """Return the odd number of blocks for n rows."""
        return default_blocks(n) if isinstance(self.blocks, str) else odd(self.blocks)


class NoisyScore:
    """A query's score for a private algorithm, which is high if x and y look independent.

    With ``perturbed`` "p" it is the rank test's p-value, with "z" it is -|z|; both are compared
    with :meth:`cutoff`. ``noise_sensitivity`` is the one to which noise is calibrated: the paper's
    in published mode, the proven one in strict mode. ``defended_ratio`` is the proven sensitivity
    divided by it, which is 1 in strict mode. An untestable query counts as fully dependent.

    Algorithms add noise in two ways: with :meth:`release`, and with :meth:`gap` in a sparse vector.
    """

    # The part of delta that a release adds: 0, except for noise calibrated to a smooth sensitivity.
    slack = 0.0
    # The oracle reads no data; this tiny sensitivity keeps its noise too small to change a
    # comparison.
    _ORACLE_SENSITIVITY = 1e-12

    def __init__(self, data: Dataset, params: PrivateParameters, perturbed: str):
        if params.test.aggregated:
            raise ParameterError(
                f"{params.test.key} has no bounded sensitivity for this algorithm: "
                f"choose {' or '.join(BOUNDED)}."
            )
        largest = params.test.largest_p
        if perturbed == "p" and params.cutoff > largest:
            raise ParameterError(f"threshold must be at most {largest}: p never exceeds it here.")
        self.scores = QueryScores(data, params.test, params.guarantee)
        self.perturbed, self.strict, self.threshold = perturbed, params.strict, params.cutoff
        self._test, self._cardinalities, self._n = params.test, data.cardinalities, data.n

    @property
    def code(self) -> str:
        """The code of a step that compares a released value (:mod:`engine.words.steps`)."""
        codes = {"z": "noisy_z", "votes": "votes", "median": "median_p"}
        return codes.get(self.perturbed, "noisy_p")

    def sample(self, m: int, randomness: Randomness) -> Any:
        """Draw a fresh sample of m rows without replacement, for use in :meth:`of`."""
        return draw(self.scores.store, m, randomness)

    def of(self, q: Query, rows: Any = None) -> float:
        """Return the query's score on a sample, or on all rows."""
        result = self.scores.full(q) if rows is None else self.scores.on(rows, q)
        if self.perturbed == "p":
            return result.cautious_p
        return -abs(result.statistic) if result.testable else -self._test.largest(self._n)

    def cutoff(self, tweak: float = 0.0) -> float:
        """Return the cutoff for a score: the threshold lowered by ``tweak`` on the p scale."""
        return self.cutoff_at(max(0.0, self.threshold - tweak))

    def cutoff_at(self, threshold: float) -> float:
        """Return the cutoff for a score that corresponds to this threshold on the p scale."""
        return -critical_z(threshold) if self.perturbed == "z" else threshold

    def noise_sensitivity(self, q: Query, n: int | None = None) -> float:
        """Return the sensitivity to which noise is calibrated, on n rows (default: all)."""
        test, levels, m = self._test, self._cardinalities, n or self._n
        if not test.reads_data:
            return self._ORACLE_SENSITIVITY
        if self.strict:
            # The sensitivity of p is proven for any n. The one of |z| is proven for all rows and
            # grows for smaller samples.
            rows = m if self.perturbed == "p" else self._n
            x, y = levels[q.x], levels[q.y]
            z = test.sensitivity(rows, x, y, conditional=bool(q.given))
        else:
            rows = self._n
            strata = math.prod([levels[c] for c in q.given]) if q.given else None
            z = test.published_sensitivity(rows, strata)
        full = p_sensitivity(z) if self.perturbed == "p" else z
        return full if rows == m else full * math.sqrt(rows / m)

    def defended_ratio(self, q: Query, n: int | None = None) -> float:
        """Return proven divided by calibrated sensitivity, the largest ratio for queries like q.

        Published scores have no useful global sensitivity, so their range is the bound: p lies in
        [0, 1/2], and |z| is at most the root of the largest weight.
        """
        if not self._test.reads_data:
            return 0.0
        if self.strict:
            return 1.0
        p, test = self.perturbed == "p", self._test
        span = test.largest_p if p else test.largest(n or self._n)
        return max(1.0, span / self.noise_sensitivity(Query(q.x, q.y, ()), n))

    def event(self, q: Query, epsilon: float) -> Event:
        """Return the charge of :meth:`release` on all rows."""
        unit = self.noise_sensitivity(q)
        return LaplaceEvent(self.defended_ratio(q) * unit, unit / epsilon)

    def release(
        self, context: RunContext, q: Query, epsilon: float, *, label: str, rows: Any = None
    ) -> tuple[float, float]:
        """Return (released value, exact value): the score with Lap(sensitivity / epsilon)."""
        n = None if rows is None else rows.n
        raw, unit = self.of(q, rows), self.noise_sensitivity(q, n)
        defended, scale = self.defended_ratio(q, n) * unit, unit / epsilon
        noisy = laplace(context, raw, sensitivity=defended, scale=scale, label=label, order=q.order)
        return noisy, raw

    def conclude(self, context: RunContext, kind: str, q: Query, noisy: float, raw: float) -> bool:
        """Return whether a released value means independence; add one step to the trace."""
        cutoff = self.cutoff()
        found = noisy > cutoff
        if context.trace:
            context.emit(
                kind,
                "independent" if found else "dependent",
                code=self.code,
                query=q,
                value=noisy,
                threshold=cutoff,
                internal={"exact": raw},
            )
        return found

    def gap(self, q: Query, rows: Any, tweak: float, epsilon: float) -> tuple[float, float, float]:
        """Return (score, cutoff, sensitivity) for a sparse vector run at ``epsilon``, which uses
        (score - cutoff) / sensitivity."""
        n = None if rows is None else rows.n
        return self.of(q, rows), self.cutoff(tweak), self.noise_sensitivity(q, n)


class BlockScore(NoisyScore):
    """An aggregate of the p-values of G2 or chi2 in random blocks of rows."""

    def __init__(self, data: Dataset, params: NoisyTestParameters, randomness: Randomness):
        self.scores = QueryScores(data, params.test, "published")
        self.strict, self.threshold = params.strict, params.cutoff
        self.slack = 0.0 if params.strict else params.delta
        self._test, self._n = params.test, data.n
        self._count = params.block_count(data.n)
        self._dealt = self._deal(data.n, randomness)
        self._kept: dict[Query, NDArray[np.float64]] = {}

    def sample(self, m: int, randomness: Randomness) -> Blocks:
        """Divide m rows into new blocks, or return the run's blocks if m is all rows."""
        if m >= self._n:
            return self._dealt
        return self._deal(m, randomness)

    def _deal(self, m: int, randomness: Randomness) -> Blocks:
        order = randomness.permutation(self._n)[:m]
        return Blocks.deal(self.scores.store, self._count, order)

    def p_values(self, q: Query, rows: Any = None) -> NDArray[np.float64]:
        """Return each block's p-value; those of the run's blocks are cached."""
        if rows is not None and rows is not self._dealt:
            return cast(Blocks, rows).p_values(q.x, q.y, q.given, self._test)
        if q not in self._kept:
            self._kept[q] = self._dealt.p_values(q.x, q.y, q.given, self._test)
        return self._kept[q]

    def noise_sensitivity(self, q: Query, n: int | None = None) -> float:
        """Return 1, because one record changes one block."""
        return 1.0


class Votes(BlockScore):
    """The number of blocks that find independence, compared with half of all blocks.

    One replaced record changes one block, so the count has sensitivity 1 on every sample and for
    every query. This is sound with Laplace and Gaussian noise and in a sparse vector. The tweak
    lowers the required share of votes.
    """

    perturbed = "votes"

    def of(self, q: Query, rows: Any = None) -> float:
        """Count the blocks that find q independent."""
        return float(votes(self.p_values(q, rows), self.threshold))

    def cutoff(self, tweak: float = 0.0) -> float:
        """Return half of the blocks, less the tweak's share of them."""
        return self._count * max(0.0, 0.5 - tweak)

    def cutoff_at(self, threshold: float) -> float:
        """Scale half of the blocks by the threshold's share; blocks use the full threshold."""
        share = threshold / self.threshold if self.threshold > 0 else 1.0
        return self._count * min(1.0, 0.5 * share)

    def defended_ratio(self, q: Query, n: int | None = None) -> float:
        """Return 1, because the sensitivity is proven."""
        return 1.0


class Median(BlockScore):
    """The blocks' median p-value with noise for its smooth sensitivity (preprint, Algorithm 6).

    A release is (epsilon, delta)-DP (:class:`SmoothEvent`). In a sparse vector each negative answer
    has noise whose scale depends on the data, so such answers are not free, and a sparse vector has
    no guarantee.
    """

    perturbed = "median"

    def of(self, q: Query, rows: Any = None) -> float:
        """Return the median of the blocks' p-values."""
        return float(np.median(self.p_values(q, rows)))

    def defended_ratio(self, q: Query, n: int | None = None) -> float:
        """Return infinity: the ratio is unbounded in a sparse vector."""
        return math.inf

    def event(self, q: Query, epsilon: float) -> Event:
        """Return the charge of :meth:`release`."""
        return SmoothEvent(epsilon, self.slack)

    def release(
        self, context: RunContext, q: Query, epsilon: float, *, label: str, rows: Any = None
    ) -> tuple[float, float]:
        """Return (released value, exact value): Laplace noise of scale 2 S / epsilon."""
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
        """Return the terms for the paper's sparse vector, with the smooth sensitivity."""
        return self.of(q, rows), self.cutoff(tweak), self._smooth(q, rows, epsilon)

    def _smooth(self, q: Query, rows: Any, epsilon: float) -> float:
        beta = smooth_beta(epsilon, self.slack)
        return smooth_sensitivity_of_median(self.p_values(q, rows), beta)


def noisy_score(data: Dataset, params: NoisyTestParameters, randomness: Randomness) -> NoisyScore:
    """Return the chosen test as a score for noise: a bounded score, or the blocks' aggregate."""
    if not params.test.aggregated:
        return NoisyScore(data, params, params.perturbed)
    return (Votes if params.strict else Median)(data, params, randomness)


def least_unit(data: Dataset, params: PrivateParameters) -> float:
    """Return the sensitivity of |z| for the best pair, the columns with the fewest levels."""
    x, y = sorted(range(data.d), key=data.cardinalities.__getitem__)[:2]
    return NoisyScore(data, params, "z").noise_sensitivity(Query(x, y, ()))


# Sparse vector runs ---------------------------------------------------------------------


class SparseVector:
    """Above-threshold rounds: each positive answer ends one, and the next query starts another.

    Dwork and Roth 2013; Lyu, Su and Li 2017. The charge at the start of a round covers the whole
    round, with any number of negative answers. A round starts only if the ledger has room for the
    charges caused by its positive answer.

    The noise is Laplace noise, with scales in units of the sensitivity: ``threshold_scale`` for the
    threshold, drawn once per round, and ``query_scale`` for every query. A round costs 1 /
    threshold_scale + 2 / query_scale on its sample, a fresh one with ``m`` of the n rows.
    ``reserve`` returns the charges caused by a positive answer to a query, for which the ledger
    must have room.
    """

    def __init__(
        self,
        score: NoisyScore,
        context: RunContext,
        *,
        threshold_scale: float,
        query_scale: float,
        m: int,
        n: int,
        label: str,
        positive: str = "independent",
        reserve: Callable[[Query], tuple[Event, ...]] = lambda q: (),
    ):
        self._score, self._context = score, context
        self._scales = threshold_scale, query_scale
        self._m, self._rate = m, m / n
        self._label, self._positive, self._reserve = label, positive, reserve
        self._run: AboveThreshold | None = None
        self._sample: Any = None

    def _open(self, q: Query) -> AboveThreshold:
        run = AboveThreshold(
            self._context,
            threshold=0.0,
            sensitivity=self._score.defended_ratio(q, self._m),
            threshold_scale=self._scales[0],
            query_scale=self._scales[1],
            rate=self._rate,
            # Without a cap everything fits, so no reserve is needed.
            reserve=() if self._context.ledger.cap is None else self._reserve(q),
            label=self._label,
            order=q.order,
        )
        self._sample = self._score.sample(self._m, self._context.randomness)
        return run

    def above(self, q: Query, tweak: float = 0.0) -> bool:
        """Return whether the query's noisy score reaches the round's noisy threshold."""
        if self._run is None or not self._run.open:
            self._run = self._open(q)
        raw, cutoff, unit = self._score.gap(q, self._sample, tweak, 2 / self._scales[0])
        answer = self._run.above(_in_units(raw - cutoff, unit))
        if self._context.trace:
            self._context.emit(
                self._label,
                self._positive if answer else "dependent",
                code="sieve_z" if self._score.code == "noisy_z" else "sieve",
                numbers={"label": self._label, "reached": answer},
                query=q,
                threshold=cutoff,
                internal={
                    "exact": raw,
                    "noisy value": cutoff + unit * self._run.noisy_value,
                    "noisy threshold": cutoff + unit * self._run.noisy_threshold,
                },
            )
        return answer


def _in_units(difference: float, unit: float) -> float:
    """Return difference / unit; for unit 0 the sign decides, and a tie means no independence."""
    if math.isnan(difference) or (unit == 0 and difference == 0):
        return -math.inf
    return difference / unit if unit > 0 else math.copysign(math.inf, difference)
