"""NOTEARS without privacy, computed from X'X (Zheng, Aragam, Ravikumar, Xing, NeurIPS 2018)."""

from __future__ import annotations

from dataclasses import dataclass

from engine.algorithm import Algorithm, Outcome
from engine.context import RunContext
from engine.data.dataset import Dataset
from engine.privacy.events import UndefendedEvent
from engine.score.encodings import encoding_of, level_counts
from engine.score.gram import covariance, second_moments
from engine.score.learned import report
from engine.score.optimiser import solve
from engine.score.parameters import CovarianceParameters


@dataclass(frozen=True, kw_only=True)
class NotearsParameters(CovarianceParameters):
    """Parameters of non-private NOTEARS."""


def run(data: Dataset, params: NotearsParameters, context: RunContext) -> Outcome:
    """Minimise least squares over acyclic weights; reads the data once, without a guarantee."""
    context.ledger.charge(UndefendedEvent("NOTEARS reads the data without noise"), label="NOTEARS")
    frequencies = [c / data.n for c in level_counts(data)]
    encoding = encoding_of(data, params.scores(), frequencies)
    moments = covariance(second_moments(data, encoding), encoding)
    trace = solve(moments, params.penalties(data, moments), context, params.tolerance)
    result = params.prune(trace.weights, moments, data, known=context.known)
    diagnostics = report(result, data, objective=tuple(trace.objective), h=tuple(trace.h))
    context.close()
    return Outcome(**result.oriented._asdict(), status=trace.status, diagnostics=diagnostics)


ALGORITHM = Algorithm(
    key="notears",
    title="NOTEARS (no privacy)",
    family="score-based",
    params=NotearsParameters,
    run=run,
    reference="Zheng, Aragam, Ravikumar, Xing, NeurIPS 2018",
    summary="Fits a weight to every possible arrow at once and presses cycles out; no noise.",
)
