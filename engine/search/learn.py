"""Run the PC loop with a rule and keep what was decided."""

from __future__ import annotations

from engine.algorithm import Outcome
from engine.context import Cancelled, RunContext
from engine.data.dataset import Dataset
from engine.graphs.known import oriented
from engine.privacy.ledger import BudgetExhausted
from engine.search.parameters import SearchParameters
from engine.search.skeleton import Graph, Rule, search


def learn(data: Dataset, params: SearchParameters, context: RunContext, rule: Rule) -> Outcome:
    """Run the PC loop with a rule; keep what was decided if the budget or the user ends it."""
    known = context.known
    graph = Graph(data.d, stable=params.stable, known=known)
    status = "complete"
    try:
        search(graph, rule, params.order_limit(data), check=context.check)
    except BudgetExhausted:
        status = "budget_exhausted"
    except Cancelled:
        status = "cancelled"
    context.close()
    return Outcome(
        cpdag=oriented(graph.matrix(), graph.separating, known),
        separating={pair: tuple(sets) for pair, sets in graph.separating.items()},
        tests_by_order=graph.tests_by_order(),
        status=status,
        untested=graph.untested() if status != "complete" else frozenset(),
    )
