"""Sparse vector rounds over the queries of a search."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from engine.context import RunContext
from engine.data.dataset import Dataset
from engine.privacy.budget import PrivateBudget, shares
from engine.privacy.events import Event
from engine.privacy.ledger import Ledger
from engine.privacy.mechanisms import AboveThreshold
from engine.search.evidence import Evidence
from engine.search.skeleton import Query


@dataclass(frozen=True)
class RoundBudget:
    """How a strict total is shared among sparse vector rounds: equally, by public facts alone.

    ``per_pair`` rounds are planned for each pair of variables, and one more, because the last goes
    unanswered; a round is ``steps`` pure steps of equal epsilon.
    """

    per_pair: float
    steps: int = 1

    def rounds(self, data: Dataset) -> int:
        """How many rounds are planned."""
        return math.ceil(self.per_pair * data.d * (data.d - 1) / 2) + 1

    def ledger(self, data: Dataset, params: PrivateBudget) -> Ledger:
        """Strict: the cap, under the composition that gives a round more. Published: no cap."""
        if not params.strict:
            return Ledger(delta=params.delta)
        return Ledger(params.total, method=shares(params.total, self._steps(data))[0])

    def epsilon(self, data: Dataset, params: PrivateBudget) -> float:
        """One round's: ``epsilon`` itself if published, an equal share of the total if strict."""
        if not params.strict:
            return params.epsilon
        return self.steps * shares(params.total, self._steps(data))[1]

    def _steps(self, data: Dataset) -> int:
        return self.steps * self.rounds(data)


class Rounds:
    """Sparse vector rounds: each positive answer ends one, and the next query opens another.

    A round runs at ``epsilon`` on a fresh sample of m rows: in units of the sensitivity its
    threshold gets Lap(2/epsilon) and every query Lap(4/epsilon). Rounds are charged whole as they
    open; ``reserve`` says what a positive answer to a query will lead to, for which room must be.
    """

    def __init__(
        self,
        evidence: Evidence,
        context: RunContext,
        *,
        epsilon: float,
        m: int,
        n: int,
        label: str,
        positive: str = "independent",
        reserve: Callable[[Query], tuple[Event, ...]] = lambda q: (),
    ):
        self._evidence, self._context, self._epsilon = evidence, context, epsilon
        self._m, self._rate = m, m / n
        self._label, self._positive, self._reserve = label, positive, reserve
        self._run: AboveThreshold | None = None
        self._sample: Any = None

    def _open(self, q: Query) -> AboveThreshold:
        run = AboveThreshold(
            self._context,
            threshold=0.0,
            sensitivity=self._evidence.defended_ratio(q, self._m),
            # Lyu et al. 2017 with half of epsilon on the threshold: in units of the sensitivity
            # 1 / (2/eps) + 2 / (4/eps) = eps. Algorithm 1, lines 4 and 7.
            threshold_scale=2 / self._epsilon,
            query_scale=4 / self._epsilon,
            rate=self._rate,
            # Without a cap everything fits, and nothing needs to be kept in reserve.
            reserve=() if self._context.ledger.cap is None else self._reserve(q),
            label=self._label,
            order=q.order,
        )
        self._sample = self._evidence.sample(self._m, self._context.randomness)
        return run

    def above(self, q: Query, tweak: float = 0.0) -> bool:
        """Whether the query's noisy evidence reaches the round's noisy level."""
        if self._run is None or not self._run.open:
            self._run = self._open(q)
        raw, cutoff, unit = self._evidence.gap(q, self._sample, tweak, self._epsilon)
        answer = self._run.above(_in_units(raw - cutoff, unit))
        if self._context.trace:
            self._explain(q, answer, raw, cutoff, unit)
        return answer

    def _explain(self, q: Query, answer: bool, raw: float, cutoff: float, unit: float) -> None:
        """One step of the trace: what was asked, and how it compared."""
        assert self._run is not None
        self._context.emit(
            self._label,
            self._positive if answer else "dependent",
            reason=f"in the {self._label} its noisy value "
            + ("reached" if answer else "stayed below")
            + " the noisy threshold; neither is released",
            query=q,
            threshold=cutoff,
            internal={
                "exact": raw,
                "noisy value": cutoff + unit * self._run.noisy_value,
                "noisy threshold": cutoff + unit * self._run.noisy_threshold,
            },
        )


def _in_units(difference: float, unit: float) -> float:
    """difference / unit; without a unit its sign decides, and a tie is not independence."""
    if math.isnan(difference) or (unit == 0 and difference == 0):
        return -math.inf
    return difference / unit if unit > 0 else math.copysign(math.inf, difference)
