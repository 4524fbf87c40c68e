"""PC without privacy (Spirtes, Glymour and Scheines; Priv-PC appendix A, Algorithm 3)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from engine.algorithm import Algorithm, Outcome
from engine.context import RunContext
from engine.data.dataset import Dataset
from engine.graphs.weighed_colliders import MAJORITY, ORIENTATIONS, collider_weights, orient
from engine.params import param
from engine.privacy.events import UndefendedEvent
from engine.search.pc import SearchParameters, pc
from engine.search.skeleton import Query, TestByTest
from engine.statistics.base import VARIANTS, QueryScores
from engine.statistics.registry import BOUNDED


@dataclass(frozen=True, kw_only=True)
class PCParameters(SearchParameters):
    """Parameters of non-private PC."""

    variant: str = param(
        "published",
        choices=VARIANTS,
        title="Form of the rank test",
        help="Published: strata that cannot be tested are skipped, and an edge that no stratum can "
        "test stays, unless a column is constant. Strict: the form with a proven sensitivity, over "
        "all strata.",
        when={"statistic": BOUNDED},
    )
    orientation: str = param(
        "majority",
        choices=ORIENTATIONS,
        title="Directions",
        help="Majority: a middle node is a collider if it lies in fewer than half of the sets that "
        "separated its neighbours. Strongest: all triples are weighed against each other by how "
        "clearly they were tested, and an arrow is drawn where its probability exceeds 0.4. Better "
        "with G² than with a rank test, which can miss a dependence that a collider opens.",
    )


class PC(TestByTest):
    """Search rule: remove an edge if the p-value exceeds the threshold; keep it if untestable."""

    def __init__(self, data: Dataset, params: PCParameters, context: RunContext):
        super().__init__()
        self._scores = QueryScores(data, params.test, params.variant)
        self._threshold, self._context = params.cutoff, context
        self._test, self._n = params.test, data.n

    def independent(self, q: Query) -> bool:
        """Return True if p > T; an untestable query (p is NaN) is not independent."""
        score = self._scores.full(q)
        decision = score.p > self._threshold
        self._context.emit(
            "test",
            "independent" if decision else "dependent" if score.testable else "untestable",
            code="p_value" if score.testable else "untestable",
            query=q,
            value=score.p,
            threshold=self._threshold,
            internal={"statistic": score.statistic, "dof": score.dof},
        )
        return bool(decision)

    def dependence(self, x: int, y: int, given: tuple[int, ...]) -> float:
        """Return the log Bayes factor of dependence."""
        return self._test.log_odds(self._scores.full(Query(x, y, given)), self._n)


def run(data: Dataset, params: PCParameters, context: RunContext) -> Outcome:
    """Run non-private PC on the exact data, without a guarantee."""
    if params.test.reads_data:
        context.ledger.charge(UndefendedEvent("PC reads the data without noise"), label="PC")
    rule = PC(data, params, context)
    outcome = pc(data, params, context, rule)
    if params.orientation == MAJORITY or outcome.status != "complete":
        return outcome
    skeleton = outcome.matrix | outcome.matrix.T
    limit, known = params.order_limit(data), context.known
    weights = collider_weights(skeleton, rule.dependence, limit, known)
    found = orient(skeleton, weights, known=known)
    return replace(outcome, matrix=found.cpdag, contradicted=found.contradicted)


ALGORITHM = Algorithm(
    key="pc",
    title="PC (no privacy)",
    family="constraint-based",
    params=PCParameters,
    run=run,
    reference="Spirtes, Glymour, Scheines 2000; Priv-PC appendix A",
    summary="Asks of every pair of variables whether something else explains their link "
    "away; no noise.",
)
