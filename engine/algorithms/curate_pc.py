"""CURATE, constraint-based (Bhattacharjee and Tandon 2024, section III-A, Algorithm 1).

The budget of a test depends on its order. Before each order, the algorithm plans the budgets of all
remaining orders again: from the remaining total and the remaining edges it minimises (2). The
comments quote Algorithm 1, because its lines are not numbered. The loop over orders, connected
pairs and sets is that of PC. :func:`engine.search.allocation.allocate` solves OPT, the problem (3).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from engine.algorithm import WHOLE_RUN, Algorithm, Outcome
from engine.context import RunContext
from engine.data.dataset import Dataset
from engine.diagnostics import Allocation, OrderBudget
from engine.params import again, param
from engine.privacy.accounting import Guarantee, unsampled
from engine.privacy.budget import shares
from engine.privacy.ledger import BudgetExhausted, Ledger
from engine.randomness import Randomness
from engine.search.allocation import NOTHING, Objective, Price, allocate, likely_tests, most_tests
from engine.search.diagnostics import SearchDiagnostics
from engine.search.noisy_score import (
    NoisyScore,
    NoisyTestParameters,
    TwoForms,
    differs,
    least_unit,
    noisy_score,
)
from engine.search.pc import pc
from engine.search.skeleton import Graph, Query, TestByTest
from engine.statistics.kendall import KENDALL
from engine.theory import kendall_p_bound

# largest exponent of Lemma 1; beyond it the error probability is 0 in floating point
MOST_RATE = 1e9


def _margin(name: str, title: str, effect: str) -> Any:
    return param(0.2, kind="float", low=0.0, high=1.0, tuned=(0.01, 0.5), title=title, help=effect)


def _band(title: str, kind: str) -> Any:
    return param(
        1.0,
        kind="float",
        low=0.0,
        high=1.0,
        title=title,
        help=f"The chance that a noisy score falls between the margins, in Lemma 1's bound on "
        f"{kind} errors. The paper leaves it open; 1 is the safe value.",
    )


@dataclass(frozen=True, kw_only=True)
class CuratePCParameters(NoisyTestParameters, TwoForms):
    """Parameters of constraint-based CURATE."""

    form: str = differs(
        ", asks each question from both nodes of a pair, takes eq. 16's sensitivity without its "
        "√2, keeps every edge between the margins, and counts and charges only deletions and "
        "answers between the margins"
    )
    threshold: float | str = again(
        NoisyTestParameters,
        "threshold",
        help="An edge goes when the noisy score exceeds T. 'auto' is CURATE's 0.05 for rank tests, "
        "whose p lies in [0, ½], and 0.10 for G² and χ², which run in small blocks.",
    )
    beta1: float = _margin(
        "beta1",
        "Margin β₁",
        "Published: a noisy score between T(1 − β₁) and T(1 + β₂) is decided by a coin. Both "
        "modes: the plan allocates budget to detect deletions at the distance β₁ from T.",
    )
    beta2: float = _margin(
        "beta2",
        "Margin β₂",
        "Published: the upper end of the coin's band. Both modes: the plan allocates budget to "
        "detect kept edges at the distance β₂ from T.",
    )
    stratum_rows: int = param(
        2,
        low=2,
        high=1_000_000,
        tuned=(2, 50),
        title="Rows of a stratum nᵢ",
        help="Published: nᵢ in the paper's sensitivity of Kendall's p-value (eq. 16), which falls "
        "from 0.513/√n at 2 to 0.042/√n at 10 and 0.013/√n at 20. The authors' program takes "
        "2, which gives the largest value. It does not bound p at any nᵢ, and strict runs use a "
        "sensitivity that holds.",
        when={"guarantee": ("published",), "statistic": (KENDALL.key,), "score": ("auto", "p")},
    )
    c1: float = _band("Constant c₁", "type I")
    c2: float = _band("Constant c₂", "type II")
    subsample: int | str = param(
        "off",
        kind="int",
        words=("off",),
        low=1,
        high=1e9,
        tuned=(200, "rows"),
        title="Subsample size m",
        help="Rows of the one sample that the whole run uses. 'off' (as in the paper's figures) "
        "or n and more uses all rows.",
    )

    @property
    def cutoff(self) -> float:
        """The threshold as a number."""
        if isinstance(self.threshold, str) and self.test.bounded:
            return 0.05
        return super().cutoff

    def rows_in_sample(self, n: int) -> int:
        """m as a number."""
        return n if isinstance(self.subsample, str) else min(self.subsample, n)


class CurateScore(NoisyScore):
    """A rank statistic with CURATE's bound on the sensitivity of Kendall's p-value."""

    def __init__(self, data: Dataset, params: CuratePCParameters):
        super().__init__(data, params, params.perturbed)
        self._stratum = params.stratum_rows
        self._divisor = math.sqrt(2) if params.programmed else 1.0

    def noise_sensitivity(self, q: Query, n: int | None = None) -> float:
        """Return the paper's eq. 16 for Kendall's p-value, otherwise the parent's value."""
        if self._test is KENDALL and self.perturbed == "p":
            return kendall_p_bound(n or self._n, self._stratum) / self._divisor
        return super().noise_sensitivity(q, n)


def curate_score(data: Dataset, params: CuratePCParameters, context: RunContext) -> NoisyScore:
    """Return the statistic: proven bounds if strict, eq. 16 for Kendall's p-value if published."""
    if not params.strict and params.test.bounded:
        return CurateScore(data, params)
    return noisy_score(data, params, context.randomness)


def ledger(data: Dataset, params: CuratePCParameters) -> Ledger:
    """Return a ledger; if strict, one filter over all orders that gives a likely test more."""
    if not params.strict:
        return Ledger(delta=params.delta)
    rate = params.rows_in_sample(data.n) / data.n
    likely = sum(likely_tests(data.d)[: params.order_limit(data) + 1])
    method = shares(unsampled(params.total, rate), max(1, likely))[0]
    return Ledger(params.total, method=method, rate=rate)


class CuratePC(TestByTest):
    """CURATE's rule: Laplace noise on every test, with the budget planned for its order."""

    def __init__(self, data: Dataset, params: CuratePCParameters, context: RunContext):
        super().__init__(both_sides=params.programmed)
        self._data, self._params, self._context = data, params, context
        self._score = curate_score(data, params, context)
        # "Perform sub-sampling: D'' of m rows", once for the whole run.
        self._m = params.rows_in_sample(data.n)
        sampled = self._m < data.n
        self._sample = self._score.sample(self._m, context.randomness) if sampled else None
        self._last = params.order_limit(data)
        self._price = Price("curate", params.delta)  # uses the paper's delta' for every order
        if params.strict:
            self._price = Price(context.ledger.method)
        self._left = params.epsilon  # "Initiation: epsilon_Total^(0) = epsilon_Total"
        self._total = context.ledger.limit if params.strict else params.epsilon
        self._epsilon, self._order, self._tests = 0.0, -1, 0  # epsilon per test, current order
        self.planned: list[tuple[OrderBudget, ...]] = []
        self.spent: list[OrderBudget] = []

    def begin_order(self, order: int, graph: Graph) -> None:
        """Subtract the cost of the previous order, and plan the budgets of the remaining orders."""
        self.settle()
        # "(epsilon_i, ..., epsilon_(d-2)) = OPT(epsilon_Total^(i), e_i, i)"
        orders, tests = self._expected(order, graph)
        budget = self._context.ledger.remaining if self._params.strict else self._left
        epsilons = allocate(tests, budget, self._price, self._objective(orders))
        self._order, self._epsilon = order, epsilons[0]
        costs = self._price.cost(tests, epsilons)
        if float(costs[0]) <= NOTHING * self._total:
            raise BudgetExhausted("The plan leaves nothing for this order's tests.")
        self.planned.append(
            tuple(
                OrderBudget(int(k), int(t), float(e), float(c))
                for k, t, e, c in zip(orders, tests, epsilons, costs, strict=True)
            )
        )
        self._context.emit(
            "plan",
            "planned",
            code="planned",
            order=order,
            value=self._epsilon,
        )

    def settle(self) -> None:
        """Subtract the order's cost from the total."""
        if self._order < 0:
            return
        # "epsilon_Total^(i+1) = epsilon_Total^(i) - (t_i e_i^2 + e_i sqrt(2 t_i ln(1/delta')))"
        cost = float(self._price.cost(self._tests, self._epsilon))
        self._left -= cost
        self.spent.append(OrderBudget(self._order, self._tests, self._epsilon, cost))
        self._order, self._tests = -1, 0

    def _expected(self, order: int, graph: Graph) -> tuple[list[int], tuple[float, ...]]:
        """Return the remaining orders that can have tests, each with its planned number of tests.

        Published: e_i C(d - 2, j). Strict: the number that the released graph admits, or an
        estimate if that is smaller.
        """
        d, guess = self._data.d, likely_tests(self._data.d)
        orders, counts = [], []
        for k in range(order, self._last + 1):
            if self._params.strict:
                count = most_tests(graph, k)
                count = count if k == order else min(count, guess[k])
            else:
                count = graph.edge_count() * math.comb(d - 2, k)
            if count > 0 or k == order:
                orders.append(k)
                counts.append(max(1, count))
        return orders, tuple(map(float, counts))

    def _objective(self, orders: list[int]) -> Objective:
        """Return Lemma 1's rates: the distances from T to the margins over the sensitivity."""
        p, score = self._params, self._score
        middle = score.cutoff()
        low = middle - score.cutoff_at(p.cutoff * (1 - p.beta1))
        high = score.cutoff_at(min(1.0, p.cutoff * (1 + p.beta2))) - middle
        # The largest sensitivity among the order's queries is used for all of them.
        units = np.array([self._largest_sensitivity(k) for k in orders])
        # With a threshold of 0 the margins are infinitely far away or absent: the error is 0 either
        # way.
        rate1, rate2 = (np.nan_to_num(m / units, nan=0.0, posinf=MOST_RATE) for m in (low, high))
        return Objective(tuple(rate1.tolist()), tuple(rate2.tolist()), p.c1, p.c2)

    def _largest_sensitivity(self, order: int) -> float:
        by_levels = sorted(range(self._data.d), key=lambda c: -self._data.cardinalities[c])
        x, y, *others = by_levels
        return self._score.noise_sensitivity(Query(x, y, tuple(others[:order])), self._m)

    def independent(self, q: Query) -> bool:
        """Compare the noisy statistic with the margins; if published, toss a coin in between."""
        # "Evaluate f + Lap(Delta / epsilon_i)"
        p, score = self._params, self._score
        noisy, raw = score.release(self._context, q, self._epsilon, label="test", rows=self._sample)
        # "if f > T (1 + beta_2) delete, else if f < T (1 - beta_1) keep, else with probability 1/2"
        low = score.cutoff_at(p.cutoff * (1 - p.beta1))
        high = score.cutoff_at(p.cutoff * (1 + p.beta2))
        if p.strict or not low <= noisy <= high or low == high:
            found = score.conclude(self._context, "test", q, noisy, raw)
            # "t_i = t_i + 1"; the program counts only independent results
            self._tests += found or not p.programmed
            return found
        self._tests += 1
        # The program seeds every coin toss with the same number, and that number always keeps the
        # edge.
        found = not p.programmed and self._context.randomness.coin()
        self._context.emit(
            "test",
            "independent" if found else "dependent",
            code="margins_z" if score.code == "noisy_z" else "margins",
            numbers={
                "of": score.code,
                "low": low,
                "high": high,
                "decider": "program" if p.programmed else "coin",
            },
            query=q,
            value=noisy,
            threshold=score.cutoff(),
            internal={"exact": raw},
        )
        return found

    @property
    def claimed(self) -> Guarantee:
        """Claimed ε and δ, the sums over the orders.

        Algorithm 1 also stops when the sum of the δs reaches delta_Total (1e-10 in the program).
        The orders of a run, at 1e-14 each, never reach it, so the sum is only reported here.

        "delta_curate^(i) = delta' + t_i delta", where delta is that of a test: 0 with Laplace
        noise.
        """
        charged = [order for order in self.spent if order.tests > 0]
        tests = sum(order.tests for order in charged)
        delta = len(charged) * self._price.delta + tests * self._score.slack
        return Guarantee(sum(order.cost for order in charged), delta)

    def allocation(self) -> Allocation:
        """Return the budget allocation and the charges so far."""
        unit = "ρ" if self._price.method == "zcdp" else "ε"
        return Allocation(tuple(self.planned), tuple(self.spent), unit)


def noise(data: Dataset, params: CuratePCParameters) -> float:
    """Return the noise deviation of a test with a set of one column under the first allocation.

    It is infinite if the allocation leaves no budget. With noise far above the cutoff, order 0
    keeps about half of all pairs, edges or not, so order 1 decides the graph. A statistic on a
    sample is smaller, and one record changes it more. Both factors enlarge the equivalent noise on
    the statistic of all rows.
    """
    context = RunContext(Randomness(0), ledger(data, params), data.names, trace=False)
    rule = CuratePC(data, params, context)
    try:
        rule.begin_order(0, Graph(data.d))
    except BudgetExhausted:
        return math.inf
    unit = least_unit(data, params) * data.n / params.rows_in_sample(data.n)
    return math.sqrt(2) * unit / min(order.epsilon for order in rule.planned[0][:2])


def run(data: Dataset, params: CuratePCParameters, context: RunContext) -> Outcome:
    """Run CURATE; ``epsilon`` is the total in both modes."""
    data = params.rows(data)
    rule = CuratePC(data, params, context)
    outcome = pc(data, params, context, rule)
    rule.settle()
    diagnostics = SearchDiagnostics(allocation=rule.allocation())
    outcome = replace(outcome, diagnostics=diagnostics)
    if params.strict:
        return outcome
    # The paper keeps and scores the edges for which its allocation leaves no budget.
    left = outcome.untested if outcome.status == "cancelled" else frozenset[tuple[int, int]]()
    return replace(outcome, claimed=rule.claimed, untested=left)


ALGORITHM = Algorithm(
    key="curate_pc",
    title="CURATE",
    family="constraint-based",
    params=CuratePCParameters,
    run=run,
    reference="Bhattacharjee, Tandon 2024, section III-A",
    summary="Adds noise to every answer and plans again, step by step, how much of the budget "
    "each may cost.",
    ledger=ledger,
    noise=noise,
    epsilon_pays=WHOLE_RUN,
    parent="pc",
)
