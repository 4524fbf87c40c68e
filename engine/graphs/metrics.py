"""How close a learned graph is to the true one: skeleton, directions, edge classes.

The true graph enters as its CPDAG, which is all that observational data can tell.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

import networkx as nx
import numpy as np

from engine.graphs.cpdag import Adjacency, cpdag_of_dag, matrix_of


class EdgeClass(StrEnum):
    """What became of one adjacency of truth or result."""

    CORRECT = "correct"
    CLAIMED = "direction claimed"
    WRONG_DIRECTION = "wrong direction"
    EXTRA = "extra"
    MISSED = "missed"
    UNTESTED = "not tested"


# What a table or chart says of a result: a causal graph is its arrows, so the skeleton's score
# never stands alone. Fields of Metrics and their names; the first two are shares, SHD is a count.
SCORES = {"skeleton_f1": "skeleton F1", "directed_f1": "directed F1", "shd": "SHD"}


@dataclass(frozen=True)
class Metrics:
    """Skeleton precision, recall and F1; F1 of edges with their marks; SHD between CPDAGs.

    ``directed_f1`` counts an edge as right only if its mark (direction, or undirected) is that of
    the true CPDAG. ``shd`` is the number of pairs whose state differs. With no true edges and none
    found every ratio is 1.
    """

    skeleton_f1: float
    directed_f1: float
    precision: float
    recall: float
    shd: int
    correct: int
    wrong_direction: int
    extra: int
    missed: int


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else 1.0


def _f1(hits: int, found: int, true: int) -> float:
    return _ratio(2 * hits, found + true)


def classify(
    learned: Adjacency,
    truth: Adjacency,
    *,
    dag: Adjacency | None = None,
    untested: Collection[tuple[int, int]] = (),
) -> dict[tuple[int, int], EdgeClass]:
    """(i, j), i < j -> class, for every pair adjacent in either CPDAG matrix.

    With the causal graph's own matrix ``dag`` an arrow that it has, and that its CPDAG leaves open,
    is CLAIMED: right, but no method can know it from such data. ``untested`` pairs that are
    adjacent in ``learned`` are UNTESTED, whatever the truth says of them.
    """
    classes: dict[tuple[int, int], EdgeClass] = {}
    either = learned | learned.T | truth | truth.T
    for i, j in zip(*np.nonzero(np.triu(either, 1)), strict=True):
        mine, real = (learned[i, j], learned[j, i]), (truth[i, j], truth[j, i])
        if any(mine) and (int(i), int(j)) in untested:
            kind = EdgeClass.UNTESTED
        elif not any(real):
            kind = EdgeClass.EXTRA
        elif not any(mine):
            kind = EdgeClass.MISSED
        elif mine == real:
            kind = EdgeClass.CORRECT
        else:
            lucky = all(real) and dag is not None and mine == (dag[i, j], dag[j, i])
            kind = EdgeClass.CLAIMED if lucky else EdgeClass.WRONG_DIRECTION
        classes[int(i), int(j)] = kind
    return classes


def compare(learned: Adjacency, truth: Adjacency) -> Metrics:
    """Metrics of one CPDAG matrix against another; both (d, d) boolean, same order of nodes."""
    counts = dict.fromkeys(EdgeClass, 0)
    for kind in classify(learned, truth).values():
        counts[kind] += 1
    right, turned = counts[EdgeClass.CORRECT], counts[EdgeClass.WRONG_DIRECTION]
    extra, missed = counts[EdgeClass.EXTRA], counts[EdgeClass.MISSED]
    found, true, hits = right + turned + extra, right + turned + missed, right + turned
    return Metrics(
        skeleton_f1=_f1(hits, found, true),
        directed_f1=_f1(right, found, true),
        precision=_ratio(hits, found),
        recall=_ratio(hits, true),
        shd=turned + extra + missed,
        correct=right,
        wrong_direction=turned,
        extra=extra,
        missed=missed,
    )


@lru_cache(maxsize=64)
def truth_cpdag(truth: nx.DiGraph, names: tuple[str, ...]) -> Adjacency:
    """The CPDAG matrix of the true DAG, columns in the order of ``names``."""
    matrix = cpdag_of_dag(matrix_of(truth, names))
    matrix.flags.writeable = False  # kept for every later run on the same data
    return matrix
