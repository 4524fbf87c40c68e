"""Meek's rules with colliders: from skeletons with separating sets, and from DAGs, to CPDAGs.

It guarantees that labels are never looked at: conflicting arrowheads cancel, so a permutation of
the columns permutes the result.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.graphs.cpdag import Adjacency, SeparatingSets


def cpdag(
    skeleton: Adjacency,
    separating: SeparatingSets,
    known: tuple[Adjacency, Adjacency] | None = None,
) -> Adjacency:
    """Orient a skeleton: v-structures from separating sets, then Meek's rules 1-4.

    What is ``known`` of it comes first: the skeleton with some links turned (d, d), and, symmetric,
    the pairs known not to be linked, of which nothing was asked, so that no middle node between
    them is known to be no collider. A collider that would turn an arrow that is known is none.

    ``skeleton`` symmetric (d, d). ``separating`` maps a pair to the sets found to separate it;
    z in x - z - y is a collider if it lies in fewer than half of them (majority rule of Colombo
    and Maathuis 2014; with one set, the textbook rule). A pair without a set orients nothing.
    """
    arrows = np.zeros_like(skeleton)
    graph, untested = known or (skeleton, None)
    near = [set(np.flatnonzero(row).tolist()) for row in skeleton]
    for (x, y), sets in separating.items():
        if y in near[x] or not sets:
            continue
        for z in near[x] & near[y]:
            if 2 * sum(z in s for s in sets) < len(sets) and graph[x, z] and graph[y, z]:
                arrows[x, z] = arrows[y, z] = True
    return meek(_orient(graph.copy(), arrows), untested)


def cpdag_of_dag(dag: Adjacency) -> Adjacency:
    """The CPDAG of a DAG's Markov equivalence class; ``dag[i, j]`` is i -> j."""
    # An arrow into z is one of a collider where z has another parent that is apart from its tail.
    return meek(_orient(dag | dag.T, dag & product(apart_of(dag), dag)))


def _orient(graph: Adjacency, arrows: Adjacency) -> Adjacency:
    """Give undirected edges the wanted arrowheads; an edge wanted both ways stays undirected."""
    wanted = arrows & ~arrows.T & graph & graph.T
    graph[wanted.T] = False
    return graph


def meek(graph: Adjacency, untested: Adjacency | None = None) -> Adjacency:
    """Close a partially directed graph under Meek's (1995) rules 1-4, all at once each round.

    Rules 1, 3 and 4 rest on a pair that is not linked having no collider but those there are; of
    ``untested`` pairs (see :func:`cpdag`) they say nothing.
    """
    graph = graph.copy()
    while True:
        undirected, directed = graph & graph.T, graph & ~graph.T
        wanted = undirected & _meek_rules(directed, undirected, untested)
        if not (wanted & ~wanted.T).any():
            return graph
        graph = _orient(graph, wanted)


def _meek_rules(
    directed: Adjacency, undirected: Adjacency, untested: Adjacency | None
) -> Adjacency:
    """[i, j] is True where one of the rules orients i - j as i -> j."""
    joined = directed | directed.T | undirected
    apart = apart_of(joined)
    if untested is not None:
        apart &= ~untested
    # Rule 1: k -> i - j, k and j not adjacent. Rule 2: i -> k -> j. (Boolean matrix products.)
    wanted = product(directed.T, apart) | product(directed, directed)
    for i, j in zip(*np.nonzero(undirected & ~wanted), strict=True):
        # Rule 3: i - k -> j and i - l -> j, k and l not adjacent.
        third = np.flatnonzero(undirected[i] & directed[:, j])
        # Rule 4: i - k -> l -> j, k and j not adjacent, i and l adjacent.
        fourth = np.flatnonzero(undirected[i] & apart[:, j])
        adjacent = joined[i] & directed[:, j]
        wanted[i, j] = _any(apart, third, third) or _any(directed, fourth, np.flatnonzero(adjacent))
    return wanted


def _any(graph: Adjacency, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> bool:
    """Whether any of these rows has an entry in any of these columns; most often there are none."""
    return bool(rows.size and columns.size and graph[np.ix_(rows, columns)].any())


def apart_of(graph: Adjacency) -> Adjacency:
    """(d, d), symmetric: the pairs of different columns that are not adjacent."""
    return ~(graph | graph.T | np.eye(len(graph), dtype=bool))


def product(a: Adjacency, b: Adjacency) -> Adjacency:
    """The Boolean matrix product, by BLAS: counts stay far below where float32 rounds to 0."""
    return np.asarray(a.astype(np.float32) @ b.astype(np.float32) > 0)
