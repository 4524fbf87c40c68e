"""SVT-PC: the sparse vector technique applied to PC directly (Priv-PC appendix B, section 4).

The comments give the lines of appendix B's Algorithm 5; the loop over edges and sets is PC's.
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
    """Return the ledger's method and a round's epsilon: one threshold until an answer.

    Published: ``epsilon`` a round. Strict: equal shares of the total. Each pair can be deleted
    once, every answer deletes an edge, and the last round goes unanswered: they cannot run out.
    """
    if not params.strict:
        return "basic", params.epsilon
    return shares(params.total, math.ceil(data.d * (data.d - 1) / 2) + 1)


def ledger(data: Dataset, params: SVTPCParameters) -> Ledger:
    """Strict: the cap, under the composition that gives a round more. Published: no cap."""
    return params.ledger(plan(data, params)[0])


class SVTPC(TestByTest):
    """Delete an edge when its noisy score reaches the noisy threshold; then a fresh one."""

    def __init__(self, data: Dataset, params: SVTPCParameters, context: RunContext):
        super().__init__(both_sides=params.programmed)
        self.epsilon = plan(data, params)[1]
        self.answers = 0
        # Lines 3 and 8: the threshold T + Lap(sigma), afresh after each answer; line 5: Lap(2
        # sigma) on every query. sigma = 2 Delta / epsilon makes a round epsilon-DP. The program has
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
        """Line 6: above the threshold."""
        found = self._vector.above(q)
        self.answers += found
        return found


def run(data: Dataset, params: SVTPCParameters, context: RunContext) -> Outcome:
    """Run PC's loop with this rule; the Claimed ε is its rounds' advanced composition.

    Line 11's quota is the ledger's cap in strict mode; a published run has none.
    """
    data = params.rows(data)
    rule = SVTPC(data, params, context)
    outcome = pc(data, params, context, rule)
    total = advanced_total(rule.answers, params.epsilon, params.delta)
    diagnostics = SearchDiagnostics(epsilon_per_round=rule.epsilon)
    return replace(outcome, claimed=None if params.strict else total, diagnostics=diagnostics)


def noise(data: Dataset, params: SVTPCParameters) -> float:
    """Deviation of a query's noise less the threshold's: Lap(4/epsilon) and Lap(2/epsilon)."""
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
