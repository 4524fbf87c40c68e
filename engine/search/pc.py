"""PC with the loop of :mod:`engine.search.skeleton`: its parameters, directions and ending.

A run that ends early, because of its budget or its user, keeps its decisions and says which pairs
were not fully tested.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from engine.algorithm import Outcome
from engine.context import RunContext
from engine.data.dataset import Dataset
from engine.graphs.known import Known
from engine.graphs.orientation import Oriented, by_sets
from engine.monitor import Cancelled
from engine.params import Parameters, param
from engine.privacy.ledger import BudgetExhausted
from engine.search.skeleton import Graph, Rule, search
from engine.statistics.base import Statistic
from engine.statistics.registry import STATISTICS


@dataclass(frozen=True, kw_only=True)
class SearchParameters(Parameters):
    """Parameters of the PC loop and its test, common to the constraint-based family."""

    statistic: str = param(
        "kendall",
        choices=tuple(STATISTICS),
        title="Independence test",
        help="Conditional Kendall's τ and Spearman's ρ read the levels as ordered; G² and χ² do "
        "not. The oracle uses the true graph (d-separation) instead of the data.",
    )
    threshold: float | str = param(
        "auto",
        kind="float",
        words=("auto",),
        low=0.0,
        high=1.0,
        tuned=(0.001, 0.4),
        title="Threshold T",
        help="An edge is removed if the p-value exceeds T. Rank tests have p in [0, ½] and T = "
        "0.10 as published; G² and χ² have p in [0, 1] and T = 0.01. 'auto' takes these.",
    )
    max_order: int | str = param(
        "auto",
        kind="int",
        words=("auto",),
        low=0,
        high=50,
        tuned=(0, 5),
        title="Largest order",
        help="The largest conditioning set. 'auto' is clip(⌊log₂ n⌋ − 5, 0, d − 2), as in the "
        "program of Priv-PC's authors; no paper has a cap, and CURATE's text goes on to d − 2.",
    )
    stable: bool = param(
        False,
        title="PC-stable",
        help="Draw conditioning sets from the adjacencies at the start of each order, so that the "
        "result does not depend on the order of the columns. Costs more tests.",
    )

    @property
    def by_order(self) -> bool:
        """PC makes tests in column order and removes edges as it goes, unless it is stable."""
        return not self.stable

    @property
    def test(self) -> Statistic:
        """The statistic."""
        return STATISTICS[self.statistic]

    @property
    def cutoff(self) -> float:
        """The threshold as a number."""
        return self.test.threshold if isinstance(self.threshold, str) else self.threshold

    def order_limit(self, data: Dataset) -> int:
        """Return the largest order as a number, for n rows and d columns."""
        if isinstance(self.max_order, str):
            return int(np.clip(math.floor(math.log2(data.n)) - 5, 0, max(0, data.d - 2)))
        return min(self.max_order, max(0, data.d - 2))


def pc(data: Dataset, params: SearchParameters, context: RunContext, rule: Rule) -> Outcome:
    """Run the PC loop with a rule; keep its decisions if the budget or the user ends it."""
    graph = Graph(data.d, stable=params.stable, known=context.links_known)
    status = "complete"
    try:
        search(graph, rule, params.order_limit(data), check=context.check)
    except BudgetExhausted:
        status = "budget_exhausted"
    except Cancelled:
        status = "cancelled"
    context.close()
    return Outcome(
        **directed(graph, context.known)._asdict(),
        separating={pair: tuple(sets) for pair, sets in graph.separating.items()},
        ci_tests_by_order=graph.tests_by_order(),
        status=status,
        untested=graph.untested() if status != "complete" else frozenset(),
    )


def directed(graph: Graph, known: Known | None) -> Oriented:
    """Return the skeleton with directions: known ones first, then colliders, then Meek's rules."""
    return by_sets(graph.matrix(), graph.separating, known)
