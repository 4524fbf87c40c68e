"""PC without privacy (Spirtes, Glymour and Scheines; Priv-PC appendix A, Algorithm 3)."""

from __future__ import annotations

from dataclasses import dataclass

from engine.algorithm import Algorithm, Outcome
from engine.constraint.learn import learn
from engine.constraint.parameters import SearchParameters
from engine.constraint.scores import Scores
from engine.constraint.skeleton import Query, TestByTest
from engine.data.dataset import Dataset
from engine.params import param
from engine.privacy.events import UndefendedEvent
from engine.session import Session, compared
from engine.statistics.kinds import VARIANTS


@dataclass(frozen=True, kw_only=True)
class PCParameters(SearchParameters):
    """Parameters of non-private PC."""

    variant: str = param(
        "published",
        kind="choice",
        choices=VARIANTS,
        title="Form of the rank test",
        help="Published: strata that cannot be tested are skipped, and an edge that no stratum can "
        "test stays. Strict: the form with a proven sensitivity, over all strata.",
        when={"statistic": ("kendall", "spearman")},
    )


class PC(TestByTest):
    """Delete an edge when the p-value exceeds the threshold; keep it when nothing can be tested."""

    def __init__(self, data: Dataset, params: PCParameters, session: Session):
        super().__init__()
        self._scores = Scores(data, params.statistic, params.variant)
        self._threshold, self._session = params.cutoff, session

    def independent(self, q: Query) -> bool:
        """p > T; an untestable query (p is NaN) is not independent."""
        score = self._scores.full(q)
        decision = score.p > self._threshold
        self._session.emit(
            "test",
            "independent" if decision else "dependent" if score.testable else "untestable",
            reason=compared("p-value", score.p, self._threshold)
            if score.testable
            else "no stratum has enough rows to test it, and an untested edge stays",
            query=q,
            value=score.p,
            threshold=self._threshold,
            internal={"statistic": score.statistic, "dof": score.dof},
        )
        return bool(decision)


def run(data: Dataset, params: PCParameters, session: Session) -> Outcome:
    """Non-private PC: it reads the data as they are, so nothing can be defended."""
    if params.statistic != "oracle":
        session.ledger.charge(UndefendedEvent("PC reads the data without noise"), label="PC")
    return learn(data, params, session, PC(data, params, session))


ALGORITHM = Algorithm(
    key="pc",
    title="PC (no privacy)",
    family="constraint-based",
    params=PCParameters,
    run=run,
    private=False,
    reference="Spirtes, Glymour, Scheines 2000; Priv-PC appendix A",
    summary="Asks of every pair of variables whether something else explains their link "
    "away; no noise.",
)
