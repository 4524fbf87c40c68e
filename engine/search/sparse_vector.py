"""Sparse vector runs over the queries of a search (Dwork and Roth 2013; Lyu, Su and Li 2017).

It guarantees that a run costs what it was charged as it opened, however many of its answers are
negative, and that it opens only where the ledger has room for what its positive answer leads to.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from engine.context import RunContext
from engine.privacy.events import Event
from engine.privacy.mechanisms import AboveThreshold
from engine.search.noisy_score import NoisyScore
from engine.search.skeleton import Query


class SparseVector:
    """Above-threshold runs: each positive answer ends one, and the next query opens another.

    The noise is Laplace's, its scales in units of the sensitivity: ``threshold_scale`` on the
    threshold, drawn afresh as a run opens, and ``query_scale`` on every query. A run costs
    1 / threshold_scale + 2 / query_scale on its sample, a fresh one of ``m`` of the n rows.
    ``reserve`` says what a positive answer to a query will lead to, for which room must be.
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
            # Without a cap everything fits, and nothing needs to be kept in reserve.
            reserve=() if self._context.ledger.cap is None else self._reserve(q),
            label=self._label,
            order=q.order,
        )
        self._sample = self._score.sample(self._m, self._context.randomness)
        return run

    def above(self, q: Query, tweak: float = 0.0) -> bool:
        """Whether the query's noisy score reaches the run's noisy threshold."""
        if self._run is None or not self._run.open:
            self._run = self._open(q)
        raw, cutoff, unit = self._score.gap(q, self._sample, tweak, 2 / self._scales[0])
        answer = self._run.above(_in_units(raw - cutoff, unit))
        if self._context.trace:
            reached = "reached" if answer else "stayed below"
            self._context.emit(
                self._label,
                self._positive if answer else "dependent",
                reason=f"in the {self._label} its noisy value {reached} the noisy threshold; "
                "neither is released",
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
    """difference / unit; without a unit its sign decides, and a tie is not independence."""
    if math.isnan(difference) or (unit == 0 and difference == 0):
        return -math.inf
    return difference / unit if unit > 0 else math.copysign(math.inf, difference)
