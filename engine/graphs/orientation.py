"""The only code that directs a skeleton, even if the evidence contradicts itself.

:class:`Orienter` draws directions in stages: required ones, those fixed by knowledge, those from
the evidence, and those that follow by Meek's rules. At each stage

- an edge that gets arrowheads at both ends stays undirected, and a later stage may direct it;
- an edge is not directed if directed edges of this stage and earlier ones lead from its head back
  to its tail. It then stays undirected in all later stages.

An edge in one of these two cases at the end is contradicted. It follows that

- no directed cycle is drawn, so undirected edges can be directed along any column order that agrees
  with the directed ones: the graph has an acyclic extension that keeps every direction;
- among contradicting directions an earlier stage wins, so every required one is kept; within a
  stage none wins, so the column order has no influence;
- without contradictions the graph is the one given by the textbook's rules.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from engine.graphs.cpdag import Adjacency, SeparatingSets

Pair = tuple[int, int]


class Oriented(NamedTuple):
    """A partially directed (d, d) graph, and its contradicted undirected edges (i, j), i < j.

    For each of them the evidence, or evidence and knowledge, supports one direction and contradicts
    it.
    """

    matrix: Adjacency
    contradicted: frozenset[Pair]


class Facts(Protocol):
    """Background knowledge in the form of :class:`engine.graphs.known.Known`; all (d, d)."""

    required: Adjacency
    barred: Adjacency
    apart: Adjacency
    earlier: Adjacency

    def orienter(self, skeleton: Adjacency) -> Orienter:
        """Return an :class:`Orienter` of the skeleton."""


class Orienter:
    """Directions on a symmetric (d, d) skeleton that close no cycle."""

    def __init__(self, skeleton: Adjacency, known: Facts | None = None):
        self.graph = skeleton.copy()
        # Edges with arrowheads at both ends, and edges on a directed cycle; both symmetric.
        self._both, self._on_cycle = np.zeros_like(skeleton), np.zeros_like(skeleton)
        # [i, j]: j must not lead to i, although no directed edge says so.
        self._before = np.zeros_like(skeleton) if known is None else known.earlier
        if known is not None:
            self._on_cycle |= skeleton & known.apart  # they allow no direction
            self.draw(known.required)
            self.draw(known.barred.T)

    def draw(self, wanted: Adjacency) -> bool:
        """Direct the edges with one wanted arrowhead, except on cycles; False if there are none."""
        heads = wanted & self.graph & self.graph.T & ~self._on_cycle
        both = heads & heads.T
        self._both |= both
        arrows = heads & ~both
        if not arrows.any():
            return False
        ways = reachable(self.graph & ~self.graph.T | arrows | self._before)
        against = arrows & ways.T
        self.graph[(arrows & ~against).T] = False
        self._on_cycle |= against | against.T
        return True

    def draw_surest(self, arrows: NDArray[np.float64], threshold: float) -> None:
        """Draw the directions (d, d) with a probability above ``threshold``, strongest first.

        Directions with the same probability are drawn together.
        """
        wanted = self.graph & self.graph.T & (arrows > threshold) & (arrows > arrows.T)
        for strength in np.unique(arrows[wanted])[::-1]:
            self.draw(wanted & (arrows == strength))

    def close(self, untested: Adjacency | None = None) -> None:
        """Draw the directions that follow by Meek's rules, in rounds, until there are no more.

        ``untested`` is the same as in :func:`meek_rules`.
        """
        while self.draw(meek_rules(self.graph, untested)):
            pass

    @property
    def result(self) -> Oriented:
        """Return the drawn graph."""
        lines = self.graph & self.graph.T & (self._both | self._on_cycle)
        pairs = np.argwhere(np.triu(lines)).tolist()
        return Oriented(self.graph, frozenset((i, j) for i, j in pairs))


def by_sets(
    skeleton: Adjacency, separating: SeparatingSets, known: Facts | None = None
) -> Oriented:
    """Orient a skeleton by v-structures from separating sets, then by Meek's rules 1-4.

    ``skeleton`` is symmetric (d, d). ``separating`` maps a pair to the sets found to separate it.
    In x - z - y, z is a collider if it is in fewer than half of them, and is not one if it is in
    exactly half (majority rule of Colombo and Maathuis 2014; with one set, the textbook rule). A
    pair that was known to have no edge and was not tested has no set. Whether z is a collider is
    then unknown, and no direction is drawn from this triple. A collider that would reverse a known
    direction is not used.
    """
    drawn = _orienter(skeleton, known)
    heads, untested, graph = np.zeros_like(skeleton), apart_of(skeleton), drawn.graph
    near = [set(np.flatnonzero(row).tolist()) for row in skeleton]
    for (x, y), sets in separating.items():
        if y in near[x] or not sets:
            continue
        untested[x, y] = untested[y, x] = False
        for z in near[x] & near[y]:
            if 2 * sum(z in s for s in sets) < len(sets) and graph[x, z] and graph[y, z]:
                heads[x, z] = heads[y, z] = True
    drawn.draw(heads)
    drawn.close(untested)
    return drawn.result


def by_strength(
    skeleton: Adjacency, arrows: NDArray[np.float64], known: Facts | None, threshold: float
) -> Oriented:
    """Orient a skeleton by :meth:`Orienter.draw_surest`, then by Meek's rules 1-4."""
    drawn = _orienter(skeleton, known)
    drawn.draw_surest(arrows, threshold)
    drawn.close()
    return drawn.result


def by_dag(dag: Adjacency, known: Facts | None = None) -> Oriented:
    """Orient a DAG's edges by background knowledge, by the DAG's colliders and by Meek's rules.

    If the DAG agrees with the knowledge, the result is that of :func:`mpdag_of_dag`.
    """
    drawn = Orienter(dag | dag.T, known)
    drawn.draw(_heads(dag))
    drawn.close()
    return drawn.result


def _orienter(skeleton: Adjacency, known: Facts | None) -> Orienter:
    return Orienter(skeleton) if known is None else known.orienter(skeleton)


def mpdag_of_dag(dag: Adjacency, known: Facts | None = None) -> Adjacency:
    """Return the maximal PDAG: all DAGs equivalent to ``dag`` that knowledge allows.

    It is the CPDAG with the directions of ``dag`` that knowledge fixes and those from Meek's (1995)
    rules. If the knowledge contradicts ``dag``, only the part that agrees is used.
    """
    drawn = Orienter(dag | dag.T)
    drawn.draw(_heads(dag) if known is None else _heads(dag) | dag & known.barred.T)
    drawn.close()
    return drawn.graph


def _heads(dag: Adjacency) -> Adjacency:
    """Return the directed edges into nodes that have another parent not adjacent to the tail."""
    return dag & product(apart_of(dag), dag)


# Meek's rules and their parts ---------------------------------------------------


def meek_rules(graph: Adjacency, untested: Adjacency | None = None) -> Adjacency:
    """Return [i, j], True if one of Meek's (1995) rules 1-4 directs i - j as i -> j.

    Rules 1, 3 and 4 require that a non-adjacent pair has only the graph's colliders. They skip
    ``untested`` pairs (d, d, symmetric), for which this is unknown.
    """
    undirected, directed = graph & graph.T, graph & ~graph.T
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
    return np.asarray(wanted & undirected)


def _any(graph: Adjacency, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> bool:
    """Return whether any of these rows has an entry in these columns, which is rare."""
    return bool(rows.size and columns.size and graph[np.ix_(rows, columns)].any())


def apart_of(graph: Adjacency) -> Adjacency:
    """Return the pairs of different columns that are not adjacent, (d, d), symmetric."""
    return ~(graph | graph.T | np.eye(len(graph), dtype=bool))


def reachable(arrows: Adjacency) -> Adjacency:
    """Return a matrix whose [i, j] is True if a directed path leads from i to j."""
    out: Adjacency = arrows.copy()
    for _ in range(len(out).bit_length()):  # each step doubles the length of the paths
        out |= product(out, out)
    return out


def product(a: Adjacency, b: Adjacency) -> Adjacency:
    """Return the Boolean product, by BLAS: counts stay small enough for exact float32."""
    return np.asarray(a.astype(np.float32) @ b.astype(np.float32) > 0)
