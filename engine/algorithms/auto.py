"""The strict algorithm that suits a table, chosen from public facts alone.

Whether columns are numbers with stated bounds, how many levels they have, the number of rows and
the budget decide, and no row is looked at: the run is the chosen algorithm's own, with its ledger
and its guarantee. What the choice is worth at 1,000 to 100,000 rows stands in
docs/research/marginal_pc.md, "By the number of rows".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from engine.algorithm import Algorithm, Outcome
from engine.algorithms import gram_notears, marginal_pc
from engine.algorithms.marginal_pc import MOST_HIDDEN
from engine.context import RunContext
from engine.data.dataset import Dataset
from engine.marginals.sensitivity import hidden
from engine.params import again
from engine.privacy.accounting import Guarantee
from engine.privacy.budget import STRICT, PrivateBudget
from engine.privacy.ledger import Ledger


@dataclass(frozen=True, kw_only=True)
class AutoParameters(PrivateBudget):
    """The budget; everything else follows from it and from the table's shape."""

    guarantee: str = again(
        PrivateBudget,
        "guarantee",
        choices=(STRICT,),
        help="Always strict: the chosen algorithm's total (ε, δ), which is never exceeded, for "
        "replace-one neighbours. The choice reads no row and costs nothing.",
    )


@dataclass(frozen=True)
class Choice:
    """What is run, and why, as a sentence."""

    algorithm: Algorithm
    reason: str

    def build(self, params: AutoParameters) -> Any:
        """The algorithm's parameters: its own settings under the same budget."""
        return self.algorithm.params.build(params.as_dict())


def choose(cardinalities: Sequence[int], n: int, total: Guarantee, *, numeric: bool) -> Choice:
    """What suits a table under a budget.

    Args:
        cardinalities: Each column's number of levels.
        n: Number of rows.
        total: The budget.
        numeric: Whether the columns are numbers with stated bounds.

    Examples:
        >>> choose((5,) * 10, 100_000, Guarantee(1.0, 1e-6), numeric=True).algorithm.key
        'gram_notears'
        >>> choose((5,) * 10, 3_000, Guarantee(1.0, 1e-6), numeric=True).algorithm.key
        'marginal_pc'
    """
    noise = hidden(cardinalities, n, total)
    shape = f"with {len(cardinalities)} columns, {n:,} rows and ε = {total.epsilon:g}"
    if not numeric:
        chosen, why = marginal_pc.ALGORITHM, "the columns have levels and no bounds as numbers"
    elif noise <= MOST_HIDDEN:
        chosen = gram_notears.ALGORITHM
        why = f"the columns are numbers, and {shape} little of them is lost in the noise"
    else:
        chosen = marginal_pc.ALGORITHM
        why = f"{shape} the noise hides more of the numbers than of the levels they are cut into"
    return Choice(chosen, f"Chosen: {chosen.title}, because {why}.")


def choice_for(data: Dataset, params: AutoParameters) -> Choice:
    """What suits a dataset: of it the levels, the bounds and the number of rows are read."""
    numeric = data.bounds is not None
    return choose(data.cardinalities, data.n, params.total, numeric=numeric)


def ledger(data: Dataset, params: AutoParameters) -> Ledger:
    """The chosen algorithm's own."""
    chosen = choice_for(data, params)
    assert chosen.algorithm.ledger is not None
    return chosen.algorithm.ledger(data, chosen.build(params))


def run(data: Dataset, params: AutoParameters, context: RunContext) -> Outcome:
    """The chosen algorithm's run, which says what was chosen."""
    chosen = choice_for(data, params)
    outcome = chosen.algorithm.run(data, chosen.build(params), context)
    return replace(outcome, diagnostics=replace(outcome.diagnostics, chosen=chosen.reason))


ALGORITHM = Algorithm(
    key="auto",
    title="Automatic choice",
    family="chosen by the table's shape",
    params=AutoParameters,
    run=run,
    ours=True,
    chooses=True,
    reference="This project, docs/explanation/marginal_pc.md",
    summary="Takes the strict method that suits the columns, the number of rows and the budget, "
    "from public facts alone.",
    ledger=ledger,
    parent=None,  # the chosen one's
)
