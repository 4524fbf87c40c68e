"""Priv-PC: sieve and examine (Wang, Pang, Song, NeurIPS 2020, Algorithms 1 and 2)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from engine.algorithm import Algorithm, Outcome
from engine.data.dataset import Dataset
from engine.params import param
from engine.privacy.accounting import Guarantee
from engine.privacy.budget import PRESETS, shares
from engine.privacy.ledger import Ledger
from engine.search.diagnostics import SearchDiagnostics
from engine.search.learn import learn
from engine.search.parameters import NoisyTestParameters
from engine.search.rounds import Rounds
from engine.search.skeleton import Graph, Query, TestByTest
from engine.search.votes import evidence_of
from engine.session import Session, compared
from engine.theory import best_subsample, sieve_epsilon


@dataclass(frozen=True, kw_only=True)
class PrivPCParameters(NoisyTestParameters):
    """Parameters of Priv-PC."""

    tweak: float = param(
        0.02,
        kind="float",
        low=0.0,
        high=0.5,
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
        title="Subsample size m",
        help="Rows in the sieve's sample. 'best' minimises the sieve's noise (Priv-PC section "
        "3.2); 'off', or n and more, uses all rows.",
    )

    def rows_in_sieve(self, epsilon_round: float, n: int) -> int:
        """m as a number."""
        if self.subsample == "best":
            return best_subsample(epsilon_round, n)
        return n if self.subsample == "off" else min(int(self.subsample), n)


# Rounds a budget is planned for, per pair of variables: each pair can be deleted once, and about
# half as many examines turn out to be in vain. The plan may not depend on the data.
ROUNDS_PER_PAIR = 1.5


def rounds(data: Dataset) -> int:
    """How many sieve-and-examine rounds a strict budget is shared among: public facts only.

    One more than planned answers, because the last sieve goes unanswered.
    """
    return math.ceil(ROUNDS_PER_PAIR * data.d * (data.d - 1) / 2) + 1


class PrivPC(TestByTest):
    """Sieve on a subsample, examine what passes on all rows; both afresh after each answer."""

    def __init__(
        self,
        data: Dataset,
        params: PrivPCParameters,
        session: Session,
        epsilon_round: float,
    ):
        super().__init__()
        self._session, self._tweak, self._epsilon = session, params.tweak, epsilon_round
        self._evidence = evidence_of(data, params, params.perturbed, session.randomness)
        self.m = params.rows_in_sieve(epsilon_round, data.n)
        self._sieve = Rounds(
            self._evidence,
            session,
            epsilon=sieve_epsilon(epsilon_round, data.n, self.m),
            m=self.m,
            n=data.n,
            label="sieve",
            positive="passed",
            reserve=lambda q: (self._evidence.event(q, epsilon_round / 2),),
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
        noisy, raw = self._evidence.release(self._session, q, self._epsilon / 2, label="examine")
        cutoff = self._evidence.cutoff()
        found = noisy > cutoff
        if self._session.trace:
            self._explain(q, found, noisy, cutoff, raw)
        return found

    def _explain(self, q: Query, found: bool, noisy: float, cutoff: float, raw: float) -> None:
        """One step of the trace: what was released, and how it compared."""
        self._session.emit(
            "examine",
            "independent" if found else "dependent",
            reason=compared(self._evidence.noisy_name, noisy, cutoff),
            query=q,
            value=noisy,
            threshold=cutoff,
            internal={"exact": raw},
        )


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


def ledger(data: Dataset, params: PrivPCParameters) -> Ledger:
    """Strict: the cap, under the composition that gives a round more. Published: no cap."""
    if not params.strict:
        return Ledger(delta=params.delta)
    return Ledger(params.total, method=shares(params.total, 2 * rounds(data))[0])


def run(data: Dataset, params: PrivPCParameters, session: Session) -> Outcome:
    """Published: ``epsilon`` a round. Strict: the total, shared equally among the rounds."""
    epsilon = params.epsilon
    if params.strict:
        epsilon = 2 * shares(params.total, 2 * rounds(data))[1]
    rule = PrivPC(data, params, session, epsilon)
    outcome = learn(data, params, session, rule)
    claimed = None
    if not params.strict:
        claimed = claimed_total(rule.answers, params.epsilon, params.delta)
    diagnostics = SearchDiagnostics(epsilon_per_round=epsilon, rows_in_sample=rule.m)
    return replace(outcome, claimed=claimed, diagnostics=diagnostics)


ALGORITHM = Algorithm(
    key="priv_pc",
    title="Priv-PC",
    family="constraint-based",
    params=PrivPCParameters,
    run=run,
    private=True,
    reference="Wang, Pang, Song, NeurIPS 2020",
    summary="Screens every question with a cheap noisy answer, then pays for a precise one "
    "only where the two might be unlinked.",
    ledger=ledger,
    epsilon_pays="a round (one sieve and one examine)",
    parent="pc",
    presets=PRESETS,
)
