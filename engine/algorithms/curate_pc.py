"""CURATE, constraint-based (Bhattacharjee and Tandon 2024, section III-A, Algorithm 1).

The budget of a test depends on its order: before each order the budgets of all remaining orders
are planned anew from what is left of the total and of the edges, so as to minimise (2).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize
from scipy.special import logsumexp

from engine.algorithms.common import (
    Algorithm,
    Evidence,
    NoisyTestParameters,
    Outcome,
    evidence_of,
    learn,
    likely_tests,
)
from engine.data import Dataset
from engine.params import param
from engine.privacy.ledger import BudgetExhausted, Guarantee, Ledger, shares, unsampled
from engine.session import Session
from engine.skeleton import Graph, Query, TestByTest
from engine.statistics import RANK

Vector = NDArray[np.float64]


def _margin(name: str, title: str, effect: str) -> Any:
    return param(0.2, kind="float", low=0.0, high=1.0, title=title, help=effect)


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
class CuratePCParameters(NoisyTestParameters):
    """Parameters of constraint-based CURATE."""

    threshold: float | str = param(
        "auto",
        kind="float",
        words=("auto",),
        low=0.0,
        high=1.0,
        title="Threshold T",
        help="An edge goes when the noisy score exceeds T. 'auto' is CURATE's 0.05 for rank tests, "
        "whose p lies in [0, ½], and 0.10 for G² and χ², which run in small blocks.",
    )
    beta1: float = _margin(
        "beta1",
        "Margin β₁",
        "Published: a noisy score between T(1 − β₁) and T(1 + β₂) is decided by a coin. Both "
        "modes: β₁ is how far from T the plan wants deletions told apart.",
    )
    beta2: float = _margin(
        "beta2",
        "Margin β₂",
        "Published: the upper end of the coin's band. Both modes: β₂ is how far from T the plan "
        "wants edges to keep told apart.",
    )
    c1: float = _band("Constant c₁", "type I")
    c2: float = _band("Constant c₂", "type II")
    subsample: int | str = param(
        "off",
        kind="int",
        words=("off",),
        low=1,
        high=1e9,
        title="Subsample size m",
        help="Rows of the one sample that the whole run sees. 'off', as in the paper's figures, or "
        "n and more, uses all rows.",
    )

    @property
    def level(self) -> float:
        """The threshold as a number."""
        if isinstance(self.threshold, str) and self.statistic in RANK:
            return 0.05
        return super().level

    def rows_in_sample(self, n: int) -> int:
        """m as a number."""
        return n if isinstance(self.subsample, str) else min(self.subsample, n)


@dataclass(frozen=True)
class Price:
    """What t tests of one order cost at ``epsilon`` each, in the unit of the total.

    "curate": t e^2 + e sqrt(2 t ln(1/delta')), the paper's; "zcdp": t e^2 / 2; "basic": t e.
    """

    method: str
    delta: float = 0.5

    def coefficients(self, tests: Vector) -> tuple[Vector, Vector]:
        """(a, b) of the cost a e^2 + b e of each order."""
        if self.method == "curate":
            return tests, np.sqrt(2 * math.log(1 / self.delta) * tests)
        if self.method == "zcdp":
            return tests / 2, np.zeros_like(tests)
        return np.zeros_like(tests), tests

    def cost(self, tests: ArrayLike, epsilon: ArrayLike) -> Vector:
        """The cost of each order."""
        each = np.asarray(epsilon, dtype=float)
        a, b = self.coefficients(np.asarray(tests, dtype=float))
        total: Vector = a * each**2 + b * each
        return total


@dataclass(frozen=True)
class Objective:
    """(2) as a function of the orders' budgets: the product of the type I bounds plus the chance
    of any type II error, by Lemma 1 with e^(-rate epsilon) in the place of e^(-T beta epsilon /
    Delta). ``rate1`` and ``rate2`` hold one value an order.
    """

    rate1: Vector
    rate2: Vector
    c1: float
    c2: float

    @property
    def convex(self) -> bool:
        """Whether :meth:`log_excess` is known to be convex."""
        return self.c1 == self.c2 == 1 and bool(np.allclose(self.rate1, self.rate2))

    def value(self, epsilon: Vector) -> float:
        """The objective itself."""
        q1 = (self.c1 + np.exp(-self.rate1 * epsilon)) / 2
        q2 = (self.c2 + np.exp(-self.rate2 * epsilon)) / 2
        return float(np.prod(q1) + 1 - np.prod(1 - q2))

    def log_excess(self, epsilon: Vector) -> tuple[float, Vector]:
        """ln(objective - its limit at infinite budgets), and the gradient.

        The difference is a sum of positive terms, so nothing cancels and no budget underflows; for
        c1 = c2 = 1 and equal rates it is a sum of exponentials of linear functions of the budgets,
        and its logarithm is convex.
        """
        first = _telescope(math.log(max(self.c1, 1e-300) / 2), self.rate1, epsilon, plus=True)
        second = _telescope(math.log(1 - self.c2 / 2), self.rate2, epsilon, plus=False)
        total = float(logsumexp(np.concatenate([first[0], second[0]])))
        return total, -(
            self.rate1 * np.exp(first[1] - total) + self.rate2 * np.exp(second[1] - total)
        )


def _telescope(
    log_limit: float, rate: Vector, epsilon: Vector, *, plus: bool
) -> tuple[Vector, Vector]:
    """ln of terms that sum to |prod f_j - prod limit|, and ln |d prod f / d(rate_j epsilon_j)|.

    f_j = limit + e^(-rate epsilon) / 2 if plus, else limit - e^(-rate epsilon) / 2.
    """
    half = -rate * epsilon - math.log(2)
    if plus:
        factor = np.logaddexp(log_limit, half)
    else:
        lowest = math.exp(log_limit) - 0.5  # at epsilon = 0; 0 for c = 1
        factor = np.log(np.maximum(lowest - np.expm1(-rate * epsilon) / 2, 1e-300))
    k = np.arange(rate.size)
    before = np.concatenate([[0.0], np.cumsum(factor)[:-1]])
    after = np.concatenate([np.cumsum(factor[::-1])[::-1][1:], [0.0]])
    return k * log_limit + half + after, before + half + after


def plan(tests: Vector, budget: float, price: Price, objective: Objective) -> Vector:
    """Budgets of one test of each remaining order that solve (3), shape (orders,).

    Minimises (2) under the total cost and falling budgets. The steps between consecutive budgets
    are the variables, so that falling is a bound. Sequential quadratic programming, from a second
    start too where the problem is not convex.
    """
    a, b = price.coefficients(tests)
    if budget <= 0:
        return np.zeros_like(tests)
    own = _largest(a, b, budget / tests.size)  # every order the same share of the total
    equal = _fit(np.ones_like(tests), a, b, budget)
    starts = [_fit(np.minimum.accumulate(own), a, b, budget)]
    if not objective.convex:
        starts.append(equal)
    found = [_descend(start, a, b, budget, objective) for start in starts]
    return min((equal, *found), key=lambda e: objective.log_excess(e)[0])


def _largest(a: Vector, b: Vector, budget: float) -> Vector:
    """The e >= 0 with a e^2 + b e = budget, elementwise."""
    return 2 * budget / (b + np.sqrt(b * b + 4 * a * budget))


def _fit(shape: Vector, a: Vector, b: Vector, budget: float) -> Vector:
    """The multiple of ``shape`` that costs exactly the budget."""
    quadratic, linear = float(a @ shape**2), float(b @ shape)
    return shape * float(_largest(np.array(quadratic), np.array(linear), budget))


def _descend(
    start: Vector, a: Vector, b: Vector, budget: float, objective: Objective
) -> Vector:
    scale = float(start.max())

    def budgets(steps: Vector) -> Vector:
        return scale * np.cumsum(steps[::-1])[::-1]

    def goal(steps: Vector) -> tuple[float, Vector]:
        value, gradient = objective.log_excess(budgets(steps))
        return value, scale * np.cumsum(gradient)

    def room(steps: Vector) -> float:
        e = budgets(steps)
        return 1 - float(a @ e**2 + b @ e) / budget

    def room_gradient(steps: Vector) -> Vector:
        return -scale * np.cumsum(2 * a * budgets(steps) + b) / budget

    result = minimize(
        goal,
        np.append(-np.diff(start), start[-1]) / scale,
        jac=True,
        method="SLSQP",
        bounds=[(0, None)] * start.size,
        constraints={"type": "ineq", "fun": room, "jac": room_gradient},
        options={"maxiter": 60, "ftol": 1e-9},
    )
    steps = np.maximum(result.x, 0)
    if not np.all(np.isfinite(steps)) or not np.any(steps > 0):
        return start
    return _fit(budgets(steps), a, b, budget)


# An order whose tests may cost less than this share of the total is not run: its answers would be
# noise alone, and whether a numerical plan says 0 or next to it must not matter.
NOTHING = 1e-6


def most_tests(graph: Graph, order: int) -> int:
    """How many tests of an order the graph still admits: a pair's sets from either side, once.

    Edges only go, so it bounds the tests of every later graph too. The graph is a released result.
    """
    total = 0
    for x in range(graph.d):
        near_x = set(graph.adjacent(x))
        for y in near_x:
            if y > x:
                near_y = set(graph.adjacent(y)) - {x}
                sizes = len(near_x) - 1, len(near_y), len(near_x & near_y)
                total += math.comb(sizes[0], order) + math.comb(sizes[1], order)
                total -= math.comb(sizes[2], order)
    return total


class CuratePC(TestByTest):
    """Laplace noise on every test, with the order's planned budget."""

    def __init__(self, data: Dataset, params: CuratePCParameters, session: Session):
        super().__init__()
        self._data, self._params, self._session = data, params, session
        self._evidence = curate_evidence(data, params, session)
        self._m = params.rows_in_sample(data.n)
        self._sample = self._evidence.sample(self._m, session.rng) if self._m < data.n else None
        self._last = params.order_limit(data)
        self._price = Price("curate", params.delta / (self._last + 1))
        if params.strict:
            self._price = Price(session.ledger.method)
        self._left = params.epsilon
        self._total = session.ledger.limit if params.strict else params.epsilon
        self._epsilon, self._order, self._tests = 0.0, -1, 0
        self.planned: list[list[dict[str, float]]] = []
        self.spent: list[dict[str, float]] = []

    @property
    def claimed(self) -> Guarantee:
        """The paper's total: the orders' costs and failure probabilities added up."""
        charged = [order for order in self.spent if order["tests"] > 0]
        tests = sum(order["tests"] for order in charged)
        delta = len(charged) * self._price.delta + tests * self._evidence.slack
        return Guarantee(sum(order["cost"] for order in charged), delta)

    def begin_order(self, order: int, graph: Graph) -> None:
        """Settle the order before, and plan the budgets from this one on."""
        self.settle()
        orders, tests = self._expected(order, graph)
        budget = self._session.ledger.left if self._params.strict else self._left
        epsilons = plan(tests, budget, self._price, self._objective(orders))
        self._order, self._epsilon = order, float(epsilons[0])
        if float(self._price.cost(tests, epsilons)[0]) <= NOTHING * self._total:
            raise BudgetExhausted("The plan leaves nothing for this order's tests.")
        costs = self._price.cost(tests, epsilons)
        self.planned.append(
            [
                {"order": int(k), "tests": float(t), "epsilon": float(e), "cost": float(c)}
                for k, t, e, c in zip(orders, tests, epsilons, costs, strict=True)
            ]
        )
        self._session.emit("plan", "planned", order=order, value=self._epsilon)

    def settle(self) -> None:
        """Take what the order has cost off the total."""
        if self._order < 0:
            return
        cost = float(self._price.cost(self._tests, self._epsilon))
        self._left -= cost
        self.spent.append(
            {"order": self._order, "tests": self._tests, "epsilon": self._epsilon, "cost": cost}
        )
        self._order, self._tests = -1, 0

    def _expected(self, order: int, graph: Graph) -> tuple[list[int], Vector]:
        """The orders still to come that can have tests, and how many each is planned for.

        Published: e_i C(d - 2, j). Strict: as many as the released graph admits, or a guess where
        that is less.
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
        return orders, np.array(counts, dtype=float)

    def _objective(self, orders: list[int]) -> Objective:
        """Lemma 1's rates: the distance from T to each margin, in units of the sensitivity."""
        p, evidence = self._params, self._evidence
        middle = evidence.level()
        low = middle - evidence.level_at(p.level * (1 - p.beta1))
        high = evidence.level_at(min(1.0, p.level * (1 + p.beta2))) - middle
        # The sensitivity of the order's least favourable query stands for all of them.
        units = np.array([self._largest_unit(k) for k in orders])
        return Objective(low / units, high / units, p.c1, p.c2)

    def _largest_unit(self, order: int) -> float:
        by_levels = sorted(range(self._data.d), key=lambda c: -self._data.cardinalities[c])
        x, y, *others = by_levels
        return self._evidence.unit(Query(x, y, tuple(others[:order])), self._m)

    def independent(self, q: Query) -> bool:
        """Noisy evidence beyond the margins; between them, in published mode, a coin decides."""
        p, evidence = self._params, self._evidence
        noisy, raw = evidence.release(
            self._session, q, self._epsilon, label="test", rows=self._sample
        )
        self._tests += 1
        level, low, high = evidence.level(), -math.inf, math.inf
        if not p.strict:
            low = evidence.level_at(p.level * (1 - p.beta1))
            high = evidence.level_at(p.level * (1 + p.beta2))
        coin = not p.strict and low <= noisy <= high and low < high
        found = bool(self._session.rng.random() < 0.5) if coin else noisy > level
        self._session.emit(
            "test",
            ("independent" if found else "dependent") + (" by a coin" if coin else ""),
            query=q,
            value=noisy,
            threshold=level,
            internal={"exact": raw},
        )
        return found


class CurateEvidence(Evidence):
    """Rank evidence with CURATE's own bound on the sensitivity of Kendall's p-value."""

    def unit(self, q: Query, n: int | None = None) -> float:
        """Eq. 16 at its largest, strata of two rows: (2 / sqrt(pi)) (5 / 11) / sqrt(n)."""
        if self._statistic == "kendall" and self.scale == "p":
            return 2 / math.sqrt(math.pi) * 5 / 11 / math.sqrt(n or self._n)
        return super().unit(q, n)


def curate_evidence(data: Dataset, params: CuratePCParameters, session: Session) -> Evidence:
    """Strict: the proven bounds. Published: eq. 16 for Kendall's p-value."""
    if not params.strict and params.statistic in RANK:
        return CurateEvidence(data, params, params.scale)
    return evidence_of(data, params, params.scale, session.rng)


def ledger(data: Dataset, params: CuratePCParameters) -> Ledger:
    """Strict: one filter over all orders, with the rule that gives a likely test more."""
    if not params.strict:
        return Ledger(delta=params.delta)
    rate = params.rows_in_sample(data.n) / data.n
    likely = sum(likely_tests(data.d)[: params.order_limit(data) + 1])
    method = shares(unsampled(params.total, rate), max(1, likely))[0]
    return Ledger(params.total, method=method, rate=rate)


def run(data: Dataset, params: CuratePCParameters, session: Session) -> Outcome:
    """``epsilon`` is the total in both modes."""
    rule = CuratePC(data, params, session)
    outcome = learn(data, params, session, rule)
    rule.settle()
    extras = {
        "planned budget by order": rule.planned,
        "spent budget by order": rule.spent,
        "budget unit": {"curate": "ε", "basic": "ε", "zcdp": "ρ"}[rule._price.method],
    }
    return replace(outcome, claimed=None if params.strict else rule.claimed, extras=extras)


ALGORITHM = Algorithm(
    key="curate_pc",
    title="CURATE",
    family="constraint-based",
    params=CuratePCParameters,
    run=run,
    private=True,
    reference="Bhattacharjee, Tandon 2024, section III-A",
    summary="Puts Laplace noise on every test and plans the budget of each order anew from what "
    "is left of the total and of the edges.",
    ledger=ledger,
)
