"""Priv-PC: sieve and examine with Laplace noise (Wang, Pang and Song, NeurIPS 2020, Algorithm 2).

The comments give the line numbers of Algorithm 2. Its loop over orders, edges and sets (lines 2, 6
to 10, 13, 16, 17) is that of PC, :func:`engine.search.skeleton.search`. This module adds the way in
which Priv-PC answers a query.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from engine.algorithm import Algorithm, Outcome
from engine.context import RunContext
from engine.data.dataset import Dataset
from engine.params import ParameterError, param
from engine.privacy.accounting import Guarantee, advanced_total
from engine.privacy.budget import shares
from engine.privacy.ledger import Ledger
from engine.search.diagnostics import SearchDiagnostics
from engine.search.noisy_score import (
    NoisyTestParameters,
    SparseVector,
    TwoForms,
    differs,
    least_unit,
    noisy_score,
)
from engine.search.pc import pc
from engine.search.skeleton import Graph, Query, TestByTest
from engine.theory import MIN_RATE, best_subsample, sieve_epsilon

USUAL_TWEAK = 0.02

# Parameters: T (threshold), t, m, epsilon -----------------------------------------------


@dataclass(frozen=True, kw_only=True)
class PrivPCParameters(NoisyTestParameters, TwoForms):
    """Parameters of Priv-PC."""

    form: str = differs(
        ", asks each question from both nodes of a pair, and finds the best m by a search that "
        "ends near it"
    )

    tweak: float = param(
        USUAL_TWEAK,
        kind="float",
        low=0.0,
        high=0.5,
        tuned=(0.0, 0.1),
        title="Threshold tweak t",
        help="The sieve compares with T − t. A larger t (at most T) wrongly filters fewer "
        "independent pairs, but more dependent pairs are examined needlessly.",
    )
    subsample: int | str = param(
        "best",
        kind="int",
        words=("best", "off"),
        low=1,
        high=1e9,
        tuned=(200, "rows"),
        title="Subsample size m",
        help="Rows in the sieve's sample. 'best' minimises the sieve's noise (Priv-PC section "
        "3.2); 'off', or n and more, uses all rows.",
    )

    def check_together(self) -> None:
        """Refuse a tweak t above T: the sieve is the same for every T - t <= 0."""
        super().check_together()
        if self.tweak > max(self.cutoff, USUAL_TWEAK):
            raise ParameterError(
                f"tweak must be at most the threshold, {self.cutoff:g}: the sieve compares with "
                "T − t, and no score lies below 0."
            )

    def rows_in_sieve(self, epsilon_round: float, n: int) -> int:
        """m as a number."""
        if self.subsample == "best" and self.programmed:
            return max(1, int(_searched_rate(epsilon_round) * n))
        if self.subsample == "best":
            return best_subsample(epsilon_round, n)
        return n if self.subsample == "off" else min(int(self.subsample), n)


@lru_cache
def _searched_rate(epsilon: float) -> float:
    """Return m / n of the authors' program: a quasi-Newton search for n / m that ends early."""
    from scipy.optimize import minimize  # slow to import, and only the program's form needs it

    def noise_of(ratio: NDArray[np.float64]) -> float:
        with np.errstate(invalid="ignore"):  # the program ignores invalid ratios, too
            return float((np.sqrt(ratio) / np.log1p(ratio * np.expm1(epsilon / 2)))[0])

    ratio = float(minimize(noise_of, [0.5], tol=1e-2).x[0])
    return max(min(1 / ratio, 1.0), MIN_RATE)


# Budget ----------------------------------------------------------------------


def plan(data: Dataset, params: PrivPCParameters) -> tuple[str, float]:
    """Return the ledger's method and the epsilon per round: half to sieve, half to examine.

    Published: ``epsilon`` per round. Strict: equal shares of the total, fixed by public facts. Each
    pair can be removed once, about half as many examined queries remove nothing, and the last round
    may end without an answer.
    """
    if not params.strict:
        return "basic", params.epsilon
    rounds = math.ceil(1.5 * data.d * (data.d - 1) / 2) + 1
    method, each = shares(params.total, 2 * rounds)
    return method, 2 * each


def ledger(data: Dataset, params: PrivPCParameters) -> Ledger:
    """Return a ledger: if strict, capped under the composition that gives a round more."""
    return params.ledger(plan(data, params)[0])


# Algorithm 2 ----------------------------------------------------------------------------


class SieveAndExamine(TestByTest):
    """Search rule: sieve a query on m rows and, if it passes, examine it on all rows."""

    def __init__(self, data: Dataset, params: PrivPCParameters, context: RunContext):
        super().__init__(both_sides=params.programmed)
        epsilon, n = plan(data, params)[1], data.n
        self.epsilon, self.m = epsilon, params.rows_in_sieve(epsilon, n)
        # Line 4: epsilon' = ln(n/m (e^(epsilon/2) - 1) + 1); the sample brings it to epsilon/2.
        inner = sieve_epsilon(epsilon, n, self.m)
        self._context, self._tweak = context, params.tweak
        self._score = noisy_score(data, params, context.randomness)
        # Lines 3 and 5, and after each answer 14 and 15: a fresh sample of m rows, and a fresh
        # threshold T - t + Lap(2 sqrt(n) Delta / (sqrt(m) epsilon')): the statistic's sensitivity
        # on m rows is sqrt(n / m) Delta, the unit of the scales below.
        self._sieve = SparseVector(
            self._score,
            context,
            threshold_scale=2 / inner,
            query_scale=4 / inner,
            m=self.m,
            n=n,
            label="sieve",
            positive="passed",
            # A strict run starts a sieve only if it could also pay to examine the query.
            reserve=lambda q: (self._score.event(q, epsilon / 2),),
        )
        self._graph: Graph | None = None
        self.answers = 0

    def begin_order(self, order: int, graph: Graph) -> None:
        """Store the graph, so that the second test of an examined query can be counted."""
        self._graph = graph

    def independent(self, q: Query) -> bool:
        """Return True if lines 11 and 12 both remove the edge."""
        # Line 11: tau on the sample + Lap(4 sqrt(n) Delta / (sqrt(m) epsilon')) >= the threshold.
        return self._sieve.above(q, self._tweak) and self._examine(q)

    def _examine(self, q: Query) -> bool:
        """Return line 12: tau on all rows + Lap(2 Delta / epsilon) >= T, without the tweak."""
        assert self._graph is not None
        self._graph.tests[q.order] += 1
        self.answers += 1
        released = self._score.release(self._context, q, self.epsilon / 2, label="examine")
        return self._score.conclude(self._context, "examine", q, *released)


def run(data: Dataset, params: PrivPCParameters, context: RunContext) -> Outcome:
    """Run Algorithm 2: PC's loop with this rule, and the total of its answers."""
    data = params.rows(data)
    rule = SieveAndExamine(data, params, context)
    outcome = pc(data, params, context, rule)
    return replace(
        outcome,
        claimed=None if params.strict else claimed_total(rule.answers, params),
        diagnostics=SearchDiagnostics(epsilon_per_round=rule.epsilon, rows_in_sample=rule.m),
    )


def claimed_total(answers: int, params: PrivPCParameters) -> Guarantee:
    """Return line 18: k sieves plus k examines of epsilon/2, each composed with delta/2."""
    half = advanced_total(answers, params.epsilon / 2, params.delta / 2)
    return Guarantee(2 * half.epsilon, 2 * half.delta)


def noise(data: Dataset, params: PrivPCParameters) -> float:
    """Return the deviation of the noise on an examined |z|; the noise of the sieve is larger."""
    return math.sqrt(2) * least_unit(data, params) / (plan(data, params)[1] / 2)


ALGORITHM = Algorithm(
    key="priv_pc",
    title="Priv-PC",
    family="constraint-based",
    params=PrivPCParameters,
    run=run,
    reference="Wang, Pang, Song, NeurIPS 2020",
    summary="Screens every question with a cheap noisy answer, then pays for a precise one "
    "only where the two might be unlinked.",
    ledger=ledger,
    noise=noise,
    epsilon_pays="a round (one sieve and one examine)",
    epsilon_unit="round",
    parent="pc",
)
