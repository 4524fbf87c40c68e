"""What constraint-based algorithms share: parameters, evidence of a query, the wrapped search."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from engine.data import Dataset
from engine.graphs import Adjacency, SeparatingSets, cpdag
from engine.oracle import OracleScores
from engine.params import ParameterError, Parameters, param
from engine.privacy.ledger import BudgetExhausted, Guarantee, Ledger
from engine.session import Cancelled, Session
from engine.skeleton import Graph, Query, Rule, search
from engine.statistics import (
    DEFAULT_THRESHOLD,
    LIKELIHOOD,
    RANK,
    STATISTICS,
    Score,
    critical_z,
    p_sensitivity,
    rank_sensitivity,
    score,
)
from engine.tables import Rows, Store, store_of

PUBLISHED, STRICT = "published", "strict"


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What an algorithm returns; the runner turns it into a RunResult.

    ``cpdag`` (d, d) boolean. ``claimed`` is the paper's own total, None in strict mode.
    ``extras`` holds what only some algorithms have, by name (planned budgets, weights, ...).
    """

    cpdag: Adjacency
    separating: SeparatingSets = field(default_factory=dict)
    tests_by_order: tuple[int, ...] = ()
    status: str = "complete"
    claimed: Guarantee | None = None
    extras: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Algorithm:
    """One registry line. ``run(data, params, session) -> Outcome``; ``family`` groups the form."""

    key: str
    title: str
    family: str
    params: type[Parameters]
    run: Callable[[Dataset, Any, Session], Outcome]
    private: bool
    reference: str
    summary: str = ""
    # How the ledger of a strict run is capped; public facts only. None: no noise, no ledger rule.
    ledger: Callable[[Dataset, Any], Ledger] | None = None


@dataclass(frozen=True, kw_only=True)
class SearchParameters(Parameters):
    """Parameters of the PC loop and its test, common to the constraint-based family."""

    statistic: str = param(
        "kendall",
        kind="choice",
        choices=STATISTICS,
        title="Independence test",
        help="Conditional Kendall's τ and Spearman's ρ read the levels as ordered; G² and χ² do "
        "not. The oracle asks the true graph (d-separation) instead of the data.",
    )
    threshold: float | str = param(
        "auto",
        kind="float",
        words=("auto",),
        low=0.0,
        high=1.0,
        title="Threshold T",
        help="An edge goes when the p-value exceeds T. Rank tests have p in [0, ½] and T = 0.10 as "
        "published; G² and χ² have p in [0, 1] and T = 0.01. 'auto' takes these.",
    )
    max_order: int | str = param(
        "auto",
        kind="int",
        words=("auto",),
        low=0,
        high=50,
        title="Largest order",
        help="The largest conditioning set. 'auto' is the paper's clip(⌊log₂ n⌋ − 5, 0, d − 2).",
    )
    stable: bool = param(
        False,
        kind="bool",
        title="PC-stable",
        help="Draw conditioning sets from the adjacencies at the start of each order, so that the "
        "result does not depend on the order of the columns. Costs more tests.",
    )

    @property
    def level(self) -> float:
        """The threshold as a number."""
        if isinstance(self.threshold, str):
            return DEFAULT_THRESHOLD[self.statistic]
        return self.threshold

    def order_limit(self, data: Dataset) -> int:
        """The largest order as a number, for n rows and d columns."""
        if isinstance(self.max_order, str):
            return int(np.clip(math.floor(math.log2(data.n)) - 5, 0, max(0, data.d - 2)))
        return min(self.max_order, max(0, data.d - 2))


@dataclass(frozen=True, kw_only=True)
class PrivateParameters(SearchParameters):
    """Adds the budget and the guarantee it carries."""

    epsilon: float = param(
        1.0,
        kind="float",
        low=0.0,
        open_low=True,
        high=1e7,
        log=True,
        title="Privacy budget ε",
        help="Strict: the total for the whole run, a hard cap. Published: what the paper calls ε.",
    )
    delta: float = param(
        1e-6,
        kind="float",
        low=0.0,
        open_low=True,
        high=0.1,
        log=True,
        title="Failure probability δ",
        help="δ of the total guarantee. It should be far below 1/n.",
    )
    guarantee: str = param(
        STRICT,
        kind="choice",
        choices=(STRICT, PUBLISHED),
        title="Guarantee",
        help="Strict: sensitivities that hold and a total (ε, δ) that is never exceeded, for "
        "replace-one neighbours. Published: the paper's pseudo-code and constants, with the "
        "paper's total beside what can be defended.",
    )

    @property
    def total(self) -> Guarantee:
        """The strict cap."""
        return Guarantee(self.epsilon, self.delta)

    @property
    def strict(self) -> bool:
        """Whether the run's guarantee is strict."""
        return self.guarantee == STRICT


class Scores:
    """Scores queries on all rows of a dataset, each computed at most once per store."""

    def __init__(self, data: Dataset, statistic: str, variant: str):
        self.statistic, self.variant = statistic, variant
        self.store: Store = store_of(data)
        self._oracle = OracleScores(data) if statistic == "oracle" else None

    def full(self, q: Query) -> Score:
        """The query's score on all rows."""
        key = ("score", self.statistic, self.variant, q)
        return self.store.keep(key, lambda: self._compute(self.store.rows, q))

    def on(self, rows: Rows, q: Query) -> Score:
        """The query's score on a subsample."""
        return self.full(q) if rows is self.store.rows else self._compute(rows, q)

    def _compute(self, rows: Rows, q: Query) -> Score:
        if self._oracle is not None:
            return self._oracle.score(q)
        return score(rows.table(q.x, q.y, q.given), self.statistic, self.variant)


class Evidence:
    """A query as a private algorithm sees it: a number that is high when x and y look independent.

    ``scale`` "p" takes the rank test's p-value, "z" takes -|z|; both are compared with
    :meth:`level`. ``unit`` is the sensitivity that noise is calibrated to (the paper's in
    published mode, the proven one in strict mode); ``excess`` is how far the defended sensitivity
    exceeds it, 1 in strict mode. An untestable query counts as fully dependent.
    """

    # The oracle reads no data; a token unit keeps its noise below any comparison.
    _ORACLE_UNIT = 1e-12

    def __init__(self, data: Dataset, params: PrivateParameters, scale: str):
        if params.statistic in LIKELIHOOD:
            raise ParameterError(
                f"{params.statistic} has no bounded sensitivity for this algorithm: "
                f"choose {' or '.join(RANK)}."
            )
        if scale == "p" and params.level > 0.5:
            raise ParameterError("threshold must be at most 0.5: a rank test's p never exceeds it.")
        self.scores = Scores(data, params.statistic, params.guarantee)
        self.scale, self.strict, self.threshold = scale, params.strict, params.level
        self._statistic, self._cardinalities, self._n = params.statistic, data.cardinalities, data.n

    def of(self, q: Query, rows: Rows | None = None) -> float:
        """The query's evidence on the rows given, or on all."""
        result = self.scores.full(q) if rows is None else self.scores.on(rows, q)
        if self.scale == "p":
            return result.p if result.testable else 0.0
        return -abs(result.statistic) if result.testable else -math.sqrt(_largest_z2(self._n))

    def level(self, tweak: float = 0.0) -> float:
        """What evidence is compared with: the threshold lowered by ``tweak`` on the p scale."""
        lowered = max(0.0, self.threshold - tweak)
        return lowered if self.scale == "p" else -critical_z(lowered)

    def unit(self, q: Query, n: int | None = None) -> float:
        """The sensitivity that noise is calibrated to, for a score on n rows (default: all)."""
        if self._statistic == "oracle":
            return self._ORACLE_UNIT
        z = self._z_unit(q, self._n)
        full = z if self.scale == "z" else p_sensitivity(z)
        if n is None or n == self._n:
            return full
        if self.strict and self.scale == "p":
            return p_sensitivity(self._z_unit(q, n))
        return full * math.sqrt(self._n / n)

    def excess(self, q: Query, n: int | None = None) -> float:
        """Defended sensitivity divided by ``unit``.

        Published scores have no useful global sensitivity; what holds is their range: p lies in
        [0, 1/2], and |z| is at most the root of the largest weight.
        """
        if self._statistic == "oracle":
            return 0.0
        if self.strict:
            return 1.0
        span = 0.5 if self.scale == "p" else math.sqrt(_largest_z2(n or self._n))
        return max(1.0, span / self.unit(q, n))

    def _z_unit(self, q: Query, n: int) -> float:
        if not self.strict:
            # Priv-PC calibrates every order to the unconditional replace-one bound; for
            # Spearman it uses 30 / sqrt(n) (appendix E with one block).
            return (30.0 if self._statistic == "spearman" else 6.0) / math.sqrt(n)
        x, y = self._cardinalities[q.x], self._cardinalities[q.y]
        return rank_sensitivity(self._statistic, n, x, y, conditional=bool(q.given))


def _largest_z2(n: int) -> float:
    """The largest z^2 a conditional rank test on n rows can reach: Kendall's w(n) < 9n/4."""
    return 9 * n / 4


def learn(data: Dataset, params: SearchParameters, session: Session, rule: Rule) -> Outcome:
    """Run the PC loop with a rule; keep what was decided if the budget or the user ends it."""
    graph = Graph(data.d, stable=params.stable)
    status = "complete"
    try:
        search(graph, rule, params.order_limit(data), check=session.check)
    except BudgetExhausted:
        status = "budget_exhausted"
    except Cancelled:
        status = "cancelled"
    session.close()
    return Outcome(
        cpdag=cpdag(graph.matrix(), graph.separating),
        separating={pair: tuple(sets) for pair, sets in graph.separating.items()},
        tests_by_order=graph.tests_by_order(),
        status=status,
    )
