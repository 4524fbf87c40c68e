"""Find if one variable affects another in a partially directed graph, and along which path."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

import networkx as nx
import numpy as np

from engine.graphs.cpdag import Adjacency


class Verdict(StrEnum):
    """The answer of a graph to "does x affect y?"."""

    YES = "yes"
    REVERSED = "reversed"
    UNDIRECTED = "undirected"
    UNTESTED = "untested"
    NO = "no"


@dataclass(frozen=True)
class Path:
    """A verdict and the shortest path that supports it, as columns; empty if there is no path.

    The path is directed from x to y for ``YES`` and from y to x for ``REVERSED``. For
    ``UNDIRECTED`` it leads from x to y without an edge that points back, but some edge has no
    direction. For ``UNTESTED`` it includes a pair that was not fully tested.
    """

    verdict: Verdict
    columns: tuple[int, ...] = ()


def path_between(graph: Adjacency, untested: Iterable[tuple[int, int]], x: int, y: int) -> Path:
    """Find the relation of x to y in the directed paths of a graph.

    Args:
        graph: The (d, d) matrix of tested edges; an undirected edge has both directions.
        untested: Pairs (i, j) that were not fully tested; each may be an edge with any direction.
        x: The column of the cause.
        y: The column of the outcome.
    """
    open_pairs = graph.copy()
    for i, j in untested:
        open_pairs[i, j] = open_pairs[j, i] = True
    directed = graph & ~graph.T
    for verdict, matrix, ends in (
        (Verdict.YES, directed, (x, y)),
        (Verdict.REVERSED, directed, (y, x)),
        (Verdict.UNDIRECTED, graph, (x, y)),
        (Verdict.UNTESTED, open_pairs, (x, y)),
    ):
        if columns := _shortest(matrix, *ends):
            return Path(verdict, columns)
    return Path(Verdict.NO)


def _shortest(matrix: Adjacency, start: int, end: int) -> tuple[int, ...]:
    arrows = nx.DiGraph(np.argwhere(matrix).tolist())
    if start not in arrows or end not in arrows or not nx.has_path(arrows, start, end):
        return ()
    return tuple(nx.shortest_path(arrows, start, end))
