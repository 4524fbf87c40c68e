"""From weights to the graph that is reported, and what else a run shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.data.dataset import Dataset
from engine.diagnostics import Diagnostics, Fact, OracleThreshold
from engine.graphs.cpdag import Adjacency
from engine.graphs.known import Known, truth_cpdag
from engine.graphs.metrics import compare
from engine.graphs.orientation import Oriented, by_dag, mpdag_of_dag
from engine.score.acyclicity import Matrix, is_acyclic, prune


@dataclass(frozen=True, eq=False)
class Learned:
    """Weights, the DAG they were pruned to, and the threshold that was needed."""

    weights: Matrix
    dag: Adjacency
    threshold: float
    known: Known | None = None

    @property
    def oriented(self) -> Oriented:
        """Return the DAG's equivalence class; with knowledge, its remaining part."""
        return by_dag(self.dag, self.known)


def learned(
    weights: Matrix, threshold: float, widening: float | Matrix = 0.0, known: Known | None = None
) -> Learned:
    """Prune by a public rule on the weights: the threshold, raised until no cycle is left.

    ``widening`` is added to it, one number or one for each edge (known noise). Edges that are
    ``known`` to be there stay.
    """
    required = _kept(known)
    dag, factor = prune(weights, threshold + np.asarray(widening), required)
    return Learned(weights, dag, threshold * factor, known)


def learned_by_correlation(
    weights: Matrix,
    covariance: Matrix,
    threshold: float,
    widening: float | Matrix = 0.0,
    known: Known | None = None,
) -> Learned:
    """Keep the edges with a large partial correlation given the child's other parents.

    The largest weights make a DAG, which is refitted by least squares on the covariance; the edge
    with the smallest partial correlation over its threshold goes, and so on until all reach it.
    ``widening`` is added to the threshold. A rule on the weights and the covariance alone: where
    these were released, it is post-processing.
    """
    required = _kept(known)
    dag, _ = prune(weights, TINY, required)
    limits = np.broadcast_to(threshold + np.asarray(widening), dag.shape)
    if required is not None:
        limits = np.where(required, -1.0, limits)
    ratios = np.full(dag.shape, np.inf)
    for child in range(len(dag)):
        _refit(ratios, dag, child, covariance, limits)
    while ratios.min(initial=np.inf) < 1.0:
        parent, node = divmod(int(ratios.argmin()), len(dag))
        dag[parent, node] = False
        _refit(ratios, dag, node, covariance, limits)
    return Learned(weights, dag, threshold, known)


def _kept(known: Known | None) -> Adjacency | None:
    """Return the arrows that stay because they are known to be there."""
    return None if known is None or known.on_links is None else known.required


TINY = 1e-2  # weights below it are L-BFGS' remains of an edge


def _refit(ratios: Matrix, dag: Adjacency, child: int, covariance: Matrix, limits: Matrix) -> None:
    """Partial correlations of the child's edges over their limits, into its column of ratios.

    A limit below 0 is one that every edge passes.
    """
    parents = np.flatnonzero(dag[:, child])
    ratios[:, child] = np.inf
    if parents.size:
        some = [*parents, child]
        precision = np.linalg.pinv(covariance[np.ix_(some, some)], hermitian=True)
        own = np.sqrt(np.maximum(np.diag(precision), np.finfo(float).tiny))
        partial = np.abs(precision[:-1, -1]) / (own[:-1] * own[-1])
        least = limits[parents, child]
        over = partial / np.maximum(least, 1e-300)
        ratios[parents, child] = np.where(least < 0, np.inf, over)


def oracle_threshold(weights: Matrix, data: Dataset) -> OracleThreshold | None:
    """Best skeleton F1 over all thresholds, and that threshold; it looks at the truth.

    None without a truth. Thresholds that leave cycles are passed over.
    """
    if data.truth is None:
        return None
    truth, best = truth_cpdag(data.truth, data.names), (0.0, 0.0)
    for threshold in np.unique(np.abs(weights[weights != 0])):
        dag = np.abs(weights) >= threshold
        if is_acyclic(dag):
            f1 = compare(mpdag_of_dag(dag), truth).skeleton_f1
            best = max(best, (f1, float(threshold)))
    return OracleThreshold(f1=best[0], threshold=best[1])


@dataclass(frozen=True, kw_only=True, eq=False)
class ScoreDiagnostics(Diagnostics):
    """The report of a score-based run, in addition to its graph.

    ``weights`` (d, d), [i, j] the weight of i -> j before pruning; ``threshold`` the one that
    pruned them; ``objective``, ``h`` (the measure of cycles) and ``epsilon`` hold one value an
    iteration, where they may be shown; ``planned_epsilon`` is CURATE's plan; ``entry_noise`` the
    standard deviation of a released covariance's typical entry.
    """

    weights: Matrix
    threshold: float
    objective: tuple[float, ...] = ()
    h: tuple[float, ...] = ()
    epsilon: tuple[float, ...] = ()
    planned_epsilon: tuple[float, ...] = ()
    entry_noise: float | None = None
    oracle: OracleThreshold | None = None

    def facts(self) -> tuple[Fact, ...]:
        """Return the iterations and the threshold that pruned the weights."""
        steps = max(len(self.h), len(self.epsilon))
        return (
            Fact("Iterations", steps, help="Steps of the optimisation."),
            Fact("Edge threshold", self.threshold, help="Weaker edges are not in the graph."),
        )

    def descent(self) -> ScoreDiagnostics:
        """Return these."""
        return self


def report(result: Learned, data: Dataset, **shown: Any) -> ScoreDiagnostics:
    """Make a run's diagnostics, with the oracle's threshold where the truth is known.

    ``shown`` are further fields of :class:`ScoreDiagnostics`.
    """
    oracle = oracle_threshold(result.weights, data)
    weights, threshold = result.weights, result.threshold
    return ScoreDiagnostics(weights=weights, threshold=threshold, oracle=oracle, **shown)
