"""SVT-PC: the sparse vector technique applied to PC directly (Priv-PC appendix B, section 4)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from engine.algorithm import Algorithm, Outcome
from engine.context import RunContext
from engine.data.dataset import Dataset
from engine.privacy.accounting import advanced_total
from engine.privacy.budget import PRESETS
from engine.search.diagnostics import SearchDiagnostics
from engine.search.evidence import Evidence
from engine.search.learn import learn
from engine.search.parameters import NoisyTestParameters
from engine.search.rounds import RoundBudget, Rounds
from engine.search.skeleton import Query, TestByTest
from engine.search.votes import evidence_of


@dataclass(frozen=True, kw_only=True)
class SVTPCParameters(NoisyTestParameters):
    """Parameters of SVT-PC."""


# Each pair can be deleted once, and every answer deletes an edge: the rounds cannot run out.
BUDGET = RoundBudget(per_pair=1.0)


class SVTPC(TestByTest):
    """Delete an edge when its noisy evidence reaches the noisy threshold; then a fresh one."""

    def __init__(
        self, data: Dataset, params: SVTPCParameters, context: RunContext, epsilon_round: float
    ):
        super().__init__()
        self._rounds = Rounds(
            evidence_of(data, params, context.randomness),
            context,
            epsilon=epsilon_round,
            m=data.n,
            n=data.n,
            label="sparse vector",
        )
        self.answers = 0

    def independent(self, q: Query) -> bool:
        """Above the threshold."""
        found = self._rounds.above(q)
        self.answers += found
        return found


def noise(data: Dataset, params: SVTPCParameters) -> float:
    """Deviation of a query's noise less the threshold's: Lap(4/epsilon) and Lap(2/epsilon)."""
    unit = Evidence(data, params, "z").least_unit()
    return math.sqrt(2 * (4**2 + 2**2)) * unit / BUDGET.epsilon(data, params)


def run(data: Dataset, params: SVTPCParameters, context: RunContext) -> Outcome:
    """Published: ``epsilon`` a round. Strict: the total, shared equally among the rounds."""
    epsilon = BUDGET.epsilon(data, params)
    rule = SVTPC(data, params, context, epsilon)
    outcome = learn(data, params, context, rule)
    claimed = None
    if not params.strict:
        claimed = advanced_total(rule.answers, params.epsilon, params.delta)
    return replace(
        outcome, claimed=claimed, diagnostics=SearchDiagnostics(epsilon_per_round=epsilon)
    )


ALGORITHM = Algorithm(
    key="svt_pc",
    title="SVT-PC",
    family="constraint-based",
    params=SVTPCParameters,
    run=run,
    private=True,
    reference="Wang, Pang, Song, NeurIPS 2020, section 4 and appendix B",
    summary="Compares every question's noisy answer with one noisy threshold and pays only "
    "when a link goes.",
    ledger=BUDGET.ledger,
    noise=noise,
    epsilon_pays="a round (up to one deletion)",
    parent="pc",
    presets=PRESETS,
)
