"""Sieve and examine (Wang, Pang, Song, NeurIPS 2020, Algorithms 1 and 2): Priv-PC and variants.

A variant is :func:`sieve_and_examine` with other noise on what it examines.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from engine.algorithm import Outcome
from engine.context import RunContext
from engine.data.dataset import Dataset
from engine.params import param
from engine.privacy.accounting import Guarantee
from engine.search.diagnostics import SearchDiagnostics
from engine.search.evidence import LAPLACE, Evidence, Noise
from engine.search.learn import learn
from engine.search.parameters import NoisyTestParameters
from engine.search.rounds import RoundBudget, Rounds
from engine.search.skeleton import Graph, Query, TestByTest
from engine.search.votes import evidence_of
from engine.theory import best_subsample, sieve_epsilon


@dataclass(frozen=True, kw_only=True)
class SieveParameters(NoisyTestParameters):
    """Parameters of sieve and examine."""

    tweak: float = param(
        0.02,
        kind="float",
        low=0.0,
        high=0.5,
        tuned=(0.0, 0.1),
        title="Threshold tweak t",
        help="The sieve compares with T − t: fewer independent pairs are lost in it, more "
        "dependent ones are examined in vain.",
    )
    subsample: int | str = param(
        "best",
        kind="int",
        words=("best", "off"),
        low=1,
        high=1e9,
        tuned=(200, "rows"),
        title="Subsample size m",
        help="Rows in the sieve's sample. 'best' minimises the sieve's noise (Priv-PC section "
        "3.2); 'off', or n and more, uses all rows.",
    )

    def rows_in_sieve(self, epsilon_round: float, n: int) -> int:
        """m as a number."""
        if self.subsample == "best":
            return best_subsample(epsilon_round, n)
        return n if self.subsample == "off" else min(int(self.subsample), n)


class SieveAndExamine(TestByTest):
    """Sieve on a sample of m rows, examine what passes on all; both afresh after each answer.

    The sieve is a sparse vector on ``evidence``, the examine a release of it.
    """

    def __init__(
        self,
        evidence: Evidence,
        context: RunContext,
        *,
        epsilon: float,
        n: int,
        m: int,
        tweak: float,
    ):
        super().__init__()
        self._context, self._evidence, self._tweak = context, evidence, tweak
        self._half = epsilon / 2  # what an examine costs
        self._sieve = Rounds(
            evidence,
            context,
            epsilon=sieve_epsilon(epsilon, n, m),
            m=m,
            n=n,
            label="sieve",
            positive="passed",
            reserve=lambda q: (evidence.event(q, self._half),),
        )
        self._graph: Graph | None = None
        self.answers = 0

    def begin_order(self, order: int, graph: Graph) -> None:
        """Remember the graph, to count the second test of an examined query."""
        self._graph = graph

    def independent(self, q: Query) -> bool:
        """Both the sieve and, if it passes, the examine find the query independent."""
        return self._sieve.above(q, self._tweak) and self._examine(q)

    def _examine(self, q: Query) -> bool:
        assert self._graph is not None
        self._graph.tests[q.order] += 1
        self.answers += 1
        released = self._evidence.release(self._context, q, self._half, label="examine")
        return self._evidence.conclude(self._context, "examine", q, *released)


def claimed_total(answers: int, epsilon: float, delta: float) -> Guarantee:
    """The paper's total after k answers: k sieves and k examines, composed apart and added up.

    Advanced composition of k steps of epsilon/2, each with half of delta: sqrt(2 k ln(2/delta))
    epsilon/2 + k (epsilon/2)(e^(epsilon/2) - 1), for the sieves and again for the examines.
    """
    half = epsilon / 2
    if answers == 0:
        return Guarantee(0.0, 0.0)
    if half > 500:
        return Guarantee(math.inf, delta)
    root = math.sqrt(2 * answers * math.log(2 / delta)) * half
    return Guarantee(2 * (root + answers * half * math.expm1(half)), delta)


# Each pair can be deleted once, and about half as many examines turn out to be in vain. The plan
# may not depend on the data. A sieve and an examine have half of a round's epsilon each.
BUDGET = RoundBudget(per_pair=1.5, steps=2)


def examined_noise(data: Dataset, params: SieveParameters) -> float:
    """Deviation of what is put on an examined |z|: what passes the sieve has met more."""
    unit = Evidence(data, params, "z").least_unit()
    return math.sqrt(2) * unit / (BUDGET.epsilon(data, params) / 2)


def sieve_and_examine(
    data: Dataset, params: SieveParameters, context: RunContext, noise: Noise = LAPLACE
) -> Outcome:
    """Published: ``epsilon`` a round. Strict: the total, shared equally among the rounds."""
    epsilon = BUDGET.epsilon(data, params)
    evidence = evidence_of(data, params, context.randomness, noise)
    m = params.rows_in_sieve(epsilon, data.n)
    rule = SieveAndExamine(evidence, context, epsilon=epsilon, n=data.n, m=m, tweak=params.tweak)
    outcome = learn(data, params, context, rule)
    claimed = None
    if not params.strict:
        claimed = claimed_total(rule.answers, params.epsilon, params.delta)
    diagnostics = SearchDiagnostics(epsilon_per_round=epsilon, rows_in_sample=m)
    return replace(outcome, claimed=claimed, diagnostics=diagnostics)
