"""Turn weights into the reported graph and the diagnostics of a run."""

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
    """Weights, the DAG after pruning, and the threshold that pruned them."""

    weights: Matrix
    dag: Adjacency
    threshold: float
    known: Known | None = None

    @property
    def oriented(self) -> Oriented:
        """The DAG's equivalence class, restricted by background knowledge if any."""
        return by_dag(self.dag, self.known)


def learned(
    weights: Matrix, threshold: float, widening: float | Matrix = 0.0, known: Known | None = None
) -> Learned:
    """Prune by a public rule on the weights: the threshold, raised until no cycle remains.

    ``widening`` (known noise; one number, or one per edge) is added to the threshold. Edges
    required by ``known`` stay.
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

    The largest weights form a DAG, which is refitted by least squares on the covariance. The rule
    removes the edge with the smallest ratio of partial correlation to threshold, and repeats until
    all edges reach their thresholds. ``widening`` is added to the threshold. The rule reads only
    the weights and the covariance, so it is post-processing if these were released.
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
    """Return the directed edges that stay because background knowledge requires them."""
    return None if known is None or known.on_links is None else known.required


TINY = 1e-2  # smaller weights are remainders of the L-BFGS solution, not edges


def _refit(ratios: Matrix, dag: Adjacency, child: int, covariance: Matrix, limits: Matrix) -> None:
    """Write partial correlation over limit for the child's edges into its column of ratios.

    Every edge passes a limit below 0.
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
    """Return the best skeleton F1 over all thresholds, and its threshold; reads the ground truth.

    Returns None without a ground truth. Thresholds that leave cycles are skipped.
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
    """Diagnostics of a score-based run, in addition to its graph.

    ``weights`` (d, d) holds the weight of i -> j before pruning at [i, j]. ``threshold`` pruned
    them. ``objective``, ``h`` (the measure of cycles) and ``epsilon`` hold one value per iteration
    if they may be shown. ``planned_epsilon`` is CURATE's budget allocation, ``entry_noise`` the
    standard deviation of a typical entry of a released covariance.
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
        """Return these diagnostics, which are those of a descent."""
        return self


def report(result: Learned, data: Dataset, **shown: Any) -> ScoreDiagnostics:
    """Make a run's diagnostics, with the oracle's threshold if the ground truth is known.

    ``shown`` holds further fields of :class:`ScoreDiagnostics`.
    """
    oracle = oracle_threshold(result.weights, data)
    weights, threshold = result.weights, result.threshold
    return ScoreDiagnostics(weights=weights, threshold=threshold, oracle=oracle, **shown)
