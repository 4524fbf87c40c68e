"""Choose the strict algorithm that suits a table from public facts only.

The choice depends on the column types (numbers with declared bounds or levels), the numbers of
levels, the number of rows and the budget. It reads no row. The run uses the chosen algorithm's
ledger and has its guarantee. The gain from the choice at 1,000 to 100,000 rows is in
research/marginal_pc.md, "By the number of rows".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

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
    """The total budget; all other settings follow from it and from the table's shape."""

    guarantee: str = again(
        PrivateBudget,
        "guarantee",
        choices=(STRICT,),
        help="Always strict: the chosen algorithm's total (ε, δ), which is never exceeded, for "
        "replace-one neighbours. The choice reads no row and costs nothing.",
    )


def choose(
    cardinalities: Sequence[int], n: int, total: Guarantee, *, numeric: bool
) -> tuple[Algorithm, str]:
    """Return the algorithm that suits a table under a budget, and a sentence that says why.

    Args:
        cardinalities: Each column's number of levels.
        n: Number of rows.
        total: The budget.
        numeric: True if the columns are numbers with declared bounds.

    Examples:
        >>> choose((5,) * 10, 100_000, Guarantee(1.0, 1e-6), numeric=True)[0].key
        'gram_notears'
        >>> choose((5,) * 10, 3_000, Guarantee(1.0, 1e-6), numeric=True)[0].key
        'marginal_pc'
    """
    noise = hidden(cardinalities, n, total)
    shape = f"with {len(cardinalities)} columns, {n:,} rows and ε = {total.epsilon:g}"
    if not numeric:
        chosen, why = marginal_pc.ALGORITHM, "the columns have levels and no bounds as numbers"
    elif noise <= MOST_HIDDEN:
        chosen = gram_notears.ALGORITHM
        why = f"the columns are numbers, and {shape} the noise hides little of them"
    else:
        chosen = marginal_pc.ALGORITHM
        why = f"{shape} the noise hides more of the numbers than of the levels they are cut into"
    return chosen, f"Chosen: {chosen.title}, because {why}."


def choice_for(data: Dataset, params: AutoParameters) -> tuple[Algorithm, str]:
    """Choose an algorithm from a dataset's levels, bounds and number of rows."""
    numeric = data.bounds is not None
    return choose(data.cardinalities, data.n, params.total, numeric=numeric)


def ledger(data: Dataset, params: AutoParameters) -> Ledger:
    """Return the chosen algorithm's ledger for its default settings under the same budget."""
    chosen, _ = choice_for(data, params)
    assert chosen.ledger is not None
    return chosen.ledger(data, chosen.params.build(params.as_dict()))


def run(data: Dataset, params: AutoParameters, context: RunContext) -> Outcome:
    """Run the chosen algorithm and record its name."""
    chosen, reason = choice_for(data, params)
    outcome = chosen.run(data, chosen.params.build(params.as_dict()), context)
    return replace(outcome, diagnostics=replace(outcome.diagnostics, chosen=reason))


ALGORITHM = Algorithm(
    key="auto",
    title="Automatic choice",
    family="chosen by the table's shape",
    params=AutoParameters,
    run=run,
    ours=True,
    chooses=True,
    reference="This project, research/theory/marginal_pc.md",
    summary="Picks a strict method from column types, row count and budget; reads no data.",
    ledger=ledger,
    parent=None,  # the parent is that of the chosen algorithm
)
