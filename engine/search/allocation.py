"""CURATE's allocation (2024, (2), (3), Lemma 1): budgets per order that minimise the errors."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp

from engine.search.skeleton import Graph
from engine.theory import uniform_epsilon


def likely_tests(d: int) -> tuple[int, ...]:
    """Estimate the number of tests of order 0 to d - 2, for planning a strict budget.

    The estimate counts every pair once at order 0, half of a complete graph's tests at order 1, and
    for each further order half of the one before. The estimate is a public fact; if it is wrong,
    only utility suffers.
    """
    pairs = d * (d - 1) // 2
    return (pairs, *(math.ceil(pairs * (d - 2) / 2**k) for k in range(1, d - 1)))


Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Price:
    """The cost of t tests of one order at ``epsilon`` each, in the unit of the total.

    "curate" is the paper's t e^2 + e sqrt(2 t ln(1/delta')); "zcdp" is t e^2 / 2; "basic" is t e.
    """

    method: str
    delta: float = 0.5

    def coefficients(self, tests: Vector) -> tuple[Vector, Vector]:
        """Return (a, b) for each order's cost a e^2 + b e."""
        if self.method == "curate":
            return tests, np.sqrt(2 * math.log(1 / self.delta) * tests)
        if self.method == "zcdp":
            return tests / 2, np.zeros_like(tests)
        return np.zeros_like(tests), tests

    def cost(self, tests: ArrayLike, epsilon: ArrayLike) -> Vector:
        """Return the cost of each order."""
        each = np.asarray(epsilon, dtype=float)
        a, b = self.coefficients(np.asarray(tests, dtype=float))
        total: Vector = a * each**2 + b * each
        return total


@dataclass(frozen=True)
class Objective:
    """(2) as a function of the orders' budgets: the product of the type I bounds plus the
    probability of any type II error, by Lemma 1 with e^(-rate epsilon) in place of e^(-T beta
    epsilon / Delta). ``rate1`` and ``rate2`` have one value per order.
    """

    rate1: tuple[float, ...]
    rate2: tuple[float, ...]
    c1: float
    c2: float

    @property
    def convex(self) -> bool:
        """True if :meth:`log_excess` is known to be convex."""
        return self.c1 == self.c2 == 1 and bool(np.allclose(self.rate1, self.rate2))

    def log_excess(self, epsilon: Vector) -> tuple[float, Vector]:
        """Return ln(objective - its limit at infinite budgets), and the gradient.

        The difference is a sum of positive terms, so nothing cancels and no budget underflows. For
        c1 = c2 = 1 and equal rates it is a sum of exponentials of linear functions of the budgets,
        so its logarithm is convex.
        """
        rate1, rate2 = np.array(self.rate1), np.array(self.rate2)
        first = _telescope(math.log(max(self.c1, 1e-300) / 2), rate1, epsilon, plus=True)
        second = _telescope(math.log(1 - self.c2 / 2), rate2, epsilon, plus=False)
        total = float(logsumexp(np.concatenate([first[0], second[0]])))
        return total, -(rate1 * np.exp(first[1] - total) + rate2 * np.exp(second[1] - total))


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


@lru_cache(maxsize=1024)  # all runs of a study begin with the same plan, for any noise
def allocate(
    tests: tuple[float, ...], budget: float, price: Price, objective: Objective
) -> tuple[float, ...]:
    """Return budgets per test for each remaining order that solve (3).

    They minimise (2) under the total cost with decreasing budgets. The variables are the steps
    between consecutive budgets, so that the decrease is a bound. The method is sequential quadratic
    programming, with a second start if the problem is not convex.
    """
    # The cost of order j is a_j e_j^2 + b_j e_j, so (3)'s constraint is one quadratic inequality.
    a, b = price.coefficients(np.array(tests))
    if budget <= 0:
        return (0.0,) * len(tests)
    share = budget / len(tests)  # an equal share of the total for every order
    own = np.array([uniform_epsilon(*each, share) for each in zip(a, b, strict=True)])
    equal = _fit(np.ones_like(a), a, b, budget)
    starts = [_fit(np.minimum.accumulate(own), a, b, budget)]
    if not objective.convex:
        starts.append(equal)
    found = [_descend(start, a, b, budget, objective) for start in starts]
    best = min((equal, *found), key=lambda e: objective.log_excess(e)[0])
    return tuple(best.tolist())


def _fit(shape: Vector, a: Vector, b: Vector, budget: float) -> Vector:
    """Return the multiple of ``shape`` that costs exactly the budget."""
    return shape * uniform_epsilon(float(a @ shape**2), float(b @ shape), budget)


def _descend(start: Vector, a: Vector, b: Vector, budget: float, objective: Objective) -> Vector:
    from scipy.optimize import minimize  # slow to import, and few runs need it

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

    # The variables are the steps e_j - e_(j+1) >= 0 in units of the largest budget, so that the
    # decrease is a bound per variable and not a constraint between variables.
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


# An order is skipped if its tests may cost less than this share of the total, because its answers
# would be almost only noise. The result then does not depend on whether a numerical plan gives 0 or
# a tiny number.
NOTHING = 1e-6


def most_tests(graph: Graph, order: int) -> int:
    """Return how many tests of an order the graph still allows, each pair's sets counted once.

    Edges are only removed, so the number also bounds the tests of every later graph. The graph is a
    released result.
    """
    near, known = graph.matrix().astype(float), graph.known
    unfit = np.zeros_like(near)  # [z, x]: z is not an ancestor of x
    if known is not None:
        unfit[~(known.may_precede | np.eye(graph.d, dtype=bool))] = 1
    x, y = np.nonzero(np.triu(graph.questions()))
    # For all pairs at once: the neighbours of x except y and except those excluded for both.
    unfit_near = near * unfit.T
    one_side = near.sum(axis=1)[:, None] - near - unfit_near @ unfit
    both = (near @ near - unfit_near @ unfit_near.T)[x, y]
    sets = [math.comb(size, order) for size in range(graph.d)]  # whole numbers beyond 64 bits

    def total(found: Vector) -> int:
        many = np.bincount(found.astype(np.int64), minlength=1).tolist()
        return sum(pairs * sets[size] for size, pairs in enumerate(many))

    return total(np.concatenate([one_side[x, y], one_side[y, x]])) - total(both)
