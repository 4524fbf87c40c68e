"""From weights to the graph that is reported, and what else a run shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.data import Dataset
from engine.graphs import Adjacency, cpdag_of_dag
from engine.linear.acyclicity import Matrix, is_acyclic, prune
from engine.metrics import compare, truth_cpdag


@dataclass(frozen=True, eq=False)
class Learned:
    """Weights, the DAG they were pruned to, and the threshold that was needed."""

    weights: Matrix
    dag: Adjacency
    threshold: float

    @property
    def cpdag(self) -> Adjacency:
        """The DAG's equivalence class."""
        return cpdag_of_dag(self.dag)


def learned(weights: Matrix, threshold: float, widening: float | Matrix = 0.0) -> Learned:
    """Prune by a public rule on the weights: the threshold, raised until no cycle is left.

    ``widening`` is added to it, one number or one for each edge (known noise).
    """
    dag, factor = prune(weights, threshold + np.asarray(widening))
    return Learned(weights, dag, threshold * factor)


def oracle_f1(weights: Matrix, data: Dataset) -> tuple[float, float] | None:
    """Best skeleton F1 over all thresholds, and that threshold; it looks at the truth.

    None without a truth. Thresholds that leave cycles are passed over.
    """
    if data.truth is None:
        return None
    truth, best = truth_cpdag(data.truth, data.names), (0.0, 0.0)
    for level in np.unique(np.abs(weights[weights != 0])):
        dag = np.abs(weights) >= level
        if is_acyclic(dag):
            f1 = compare(cpdag_of_dag(dag), truth).skeleton_f1
            best = max(best, (f1, float(level)))
    return best


def report(
    result: Learned,
    data: Dataset,
    *,
    objective: tuple[float, ...] = (),
    h: tuple[float, ...] = (),
    epsilon: tuple[float, ...] = (),
    more: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The extras of a run. What uses the truth says so in its name, and is no part of a release."""
    out: dict[str, Any] = {
        "weights": result.weights,
        "threshold": result.threshold,
        "objective by iteration": objective,
        "h by iteration": h,
        "epsilon by iteration": epsilon,
        **(more or {}),
    }
    found = oracle_f1(result.weights, data)
    if found is not None:
        out["oracle threshold f1 (uses the truth)"], out["oracle threshold (uses the truth)"] = found
    return out
