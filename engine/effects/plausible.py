"""The DAGs that are plausible given released tables, each with its probability.

A learned graph is one of many that the same evidence allows, and an effect depends on which of them
is correct. All DAGs on the learned skeleton are therefore weighted by the evidence that gave the
graph its directions: the log odds of colliders (:mod:`engine.graphs.weighed_colliders`) or, if the
whole table was released, the likelihood of each equivalence class
(:mod:`engine.marginals.evidence`), divided equally among its members. Such evidence is
overconfident. It is scaled by the slope that turns confidences of directions into frequencies
(:mod:`engine.marginals.confidence`):

    P(DAG) proportional to exp( slope * evidence(DAG) ).

For tables with few columns all DAGs are listed; for wider ones they are sampled by the chains that
gave the directions their probabilities. DAGs in which a column of a later tier is an ancestor of
one in an earlier tier are left out. This costs no ε, because it reads released numbers only.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import compress

import numpy as np

from engine.graphs.cpdag import Adjacency
from engine.graphs.dags import MOST_COLUMNS, classes
from engine.graphs.known import Known
from engine.graphs.orientation import reachable
from engine.graphs.weighed_colliders import (
    MOST_LOG_ODDS,
    DirectionEvidence,
    sampled_dags,
    unshielded,
)
from engine.marginals.confidence import SLOPE, SLOPE_BY_NOISE, VISIBLE
from engine.marginals.contrasts import Array
from engine.marginals.diagnostics import MarginalDiagnostics
from engine.marginals.moments import Moments


@dataclass(frozen=True, eq=False)
class Plausible:
    """DAGs (d, d) on one skeleton with their probabilities, which sum to 1.

    It is empty if edges and knowledge contradict each other.
    """

    dags: tuple[Adjacency, ...]
    weights: Array

    @cached_property
    def ways(self) -> tuple[Adjacency, ...]:
        """For each DAG [i, j]: True if a directed path leads from i to j."""
        return tuple(map(reachable, self.dags))

    @cached_property
    def joined(self) -> Adjacency:
        """Return [i, j]: True if edges of any direction lead from i to j."""
        return reachable(self.dags[0] | self.dags[0].T)


def plausible(found: MarginalDiagnostics, graph: Adjacency, known: Known | None) -> Plausible:
    """Return the DAGs on a learned graph's edges, by the evidence that a run kept.

    Args:
        found: The run's diagnostics, with the released tables.
        graph: The learned (d, d) graph. If directions were decided by votes, there is no evidence,
            and the colliders of the graph count as nearly certain.
        known: The background knowledge, with which every DAG agrees: no path leads from a later
            tier to an earlier one, through any columns.
    """
    assert found.released is not None
    skeleton, evidence = graph | graph.T, found.evidence
    slope = _slope(found.released, skeleton)
    if evidence is None:
        slope, evidence = (
            1.0,
            {
                (a, z, b): MOST_LOG_ODDS * (1 if _heads(graph & ~graph.T, a, z, b) else -1)
                for a, z, b in unshielded(skeleton)
            },
        )
    if len(skeleton) <= MOST_COLUMNS:
        return _in_time(_listed(skeleton, evidence, slope, known), known)
    assert isinstance(evidence, Mapping)
    tempered = {triple: slope * weight for triple, weight in evidence.items()}
    dags, counts = zip(*sampled_dags(skeleton, tempered, known), strict=True)
    return _in_time(Plausible(dags, np.array(counts) / sum(counts)), known)


def _in_time(found: Plausible, known: Known | None) -> Plausible:
    """Return no DAG if all have a path to an earlier tier, because edges and knowledge disagree."""
    if known is None:
        return found
    kept = list(map(known.in_time, found.dags))
    weights = found.weights[kept]
    return Plausible(tuple(compress(found.dags, kept)), weights / weights.sum())


def _heads(arrows: Adjacency, a: int, z: int, b: int) -> bool:
    return bool(arrows[a, z] and arrows[b, z])


def _slope(moments: Moments, skeleton: Adjacency) -> float:
    """Return the slope for the correlation of one standard deviation of noise and sampling."""
    links = np.argwhere(np.triu(skeleton)).tolist()
    visible = [math.sqrt(4 * moments.variance(i, j) + 1 / moments.n) for i, j in links]
    middle = float(np.median(visible)) if visible else VISIBLE
    return max(SLOPE + SLOPE_BY_NOISE * math.log(middle / VISIBLE), 0.0)


def _listed(
    skeleton: Adjacency,
    evidence: DirectionEvidence,
    slope: float,
    known: Known | None,
) -> Plausible:
    """Return all DAGs on the skeleton, class by class."""
    dags: list[Adjacency] = []
    logs: list[float] = []
    for k, each in enumerate(classes(skeleton, known)):
        if isinstance(evidence, Mapping):
            colliders = (w for triple, w in evidence.items() if _heads(each.dag, *triple))
            log = slope * sum(colliders)
        else:
            log = slope * evidence[k] - math.log(len(each.members))
        dags += each.members
        logs += [log] * len(each.members)
    weights = np.exp(np.array(logs) - max(logs))
    return Plausible(tuple(dags), weights / weights.sum())
