"""SVT-PC: the sparse vector technique applied to PC directly (Priv-PC appendix B, section 4).

The comments give the line numbers of Algorithm 5 in appendix B. The loop is that of PC.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from engine.algorithm import Algorithm, Outcome
from engine.context import RunContext
from engine.data.dataset import Dataset
from engine.privacy.accounting import advanced_total
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
from engine.search.skeleton import Query, TestByTest


@dataclass(frozen=True, kw_only=True)
class SVTPCParameters(NoisyTestParameters, TwoForms):
    """Parameters of SVT-PC."""

    form: str = differs(
        ", asks each question from both nodes of a pair, and adds Lap(8Δ/ε) to a query, where "
        "Algorithm 5 says Lap(4Δ/ε)"
    )

    @property
    def query_factor(self) -> int:
        """Scale of a query's noise, in units of the sensitivity over a round's epsilon."""
        return 8 if self.programmed else 4


def plan(data: Dataset, params: SVTPCParameters) -> tuple[str, float]:
    """Return the ledger's method and the epsilon per round: one threshold until an answer.

    Published: ``epsilon`` per round. Strict: equal shares of the total. Each pair can be removed
    once, every answer removes an edge, and the last round may end without an answer, so the shares
    always suffice.
    """
    if not params.strict:
        return "basic", params.epsilon
    return shares(params.total, math.ceil(data.d * (data.d - 1) / 2) + 1)


def ledger(data: Dataset, params: SVTPCParameters) -> Ledger:
    """Return a ledger: if strict, capped under the composition that gives a round more."""
    return params.ledger(plan(data, params)[0])


class SVTPC(TestByTest):
    """Search rule: remove an edge when its noisy statistic reaches the noisy threshold."""

    def __init__(self, data: Dataset, params: SVTPCParameters, context: RunContext):
        super().__init__(both_sides=params.programmed)
        self.epsilon = plan(data, params)[1]
        self.answers = 0
        # Lines 3 and 8: the threshold T + Lap(sigma), drawn again after each answer. Line 5: Lap(2
        # sigma) per query. With sigma = 2 Delta / epsilon a round is epsilon-DP. The program adds
        # Lap(4 sigma).
        self._vector = SparseVector(
            noisy_score(data, params, context.randomness),
            context,
            threshold_scale=2 / self.epsilon,
            query_scale=params.query_factor / self.epsilon,
            m=data.n,
            n=data.n,
            label="sparse vector",
        )

    def independent(self, q: Query) -> bool:
        """Return line 6: the noisy statistic is above the threshold."""
        found = self._vector.above(q)
        self.answers += found
        return found


def run(data: Dataset, params: SVTPCParameters, context: RunContext) -> Outcome:
    """Run PC's loop with this rule; the Claimed ε is its rounds' advanced composition.

    The quota of line 11 is the ledger's cap in strict mode; a published run has no quota.
    """
    data = params.rows(data)
    rule = SVTPC(data, params, context)
    outcome = pc(data, params, context, rule)
    total = advanced_total(rule.answers, params.epsilon, params.delta)
    diagnostics = SearchDiagnostics(epsilon_per_round=rule.epsilon)
    return replace(outcome, claimed=None if params.strict else total, diagnostics=diagnostics)


def noise(data: Dataset, params: SVTPCParameters) -> float:
    """Return the deviation of query minus threshold noise, Lap(4/epsilon) - Lap(2/epsilon)."""
    return (
        math.sqrt(2 * (params.query_factor**2 + 2**2))
        * least_unit(data, params)
        / plan(data, params)[1]
    )


ALGORITHM = Algorithm(
    key="svt_pc",
    title="SVT-PC",
    family="constraint-based",
    params=SVTPCParameters,
    run=run,
    reference="Wang, Pang, Song, NeurIPS 2020, section 4 and appendix B",
    summary="Compares every question's noisy answer with one noisy threshold and pays only "
    "when a link goes.",
    ledger=ledger,
    noise=noise,
    epsilon_pays="a round (up to one deletion)",
    epsilon_unit="round",
    parent="pc",
)
