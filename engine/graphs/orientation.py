"""The one way in which a skeleton gets its arrows, also where the evidence contradicts itself.

:class:`Orienter` draws arrows stage by stage: those that are required, those that knowledge fixes,
those of the evidence, those that follow by Meek's rules. At each stage

- a line that gets an arrowhead at both ends stays a line, which a later stage may turn;
- an arrow is not drawn if arrows lead from its head back to its tail, those drawn before and those
  of this stage. Its link stays a line for good.

A line that is one of these in the end is contradicted. It follows that

- no directed cycle is drawn, so that lines can be turned along any order of the columns that agrees
  with the arrows: the graph has an acyclic extension that keeps every arrow;
- of arrows that contradict each other an earlier stage wins, so that every required one is kept,
  and within a stage none does, for any order of the columns;
- where nothing contradicts, the graph is the one that the textbook's rules give.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from engine.graphs.cpdag import Adjacency, SeparatingSets

Pair = tuple[int, int]


class Oriented(NamedTuple):
    """A partially directed (d, d) graph, and its lines (i, j), i < j, that are contradicted.

    The evidence, or evidence and knowledge, wants an arrow on each of them, and against it.
    """

    matrix: Adjacency
    contradicted: frozenset[Pair]


class Facts(Protocol):
    """Background knowledge as :class:`engine.graphs.known.Known` has it; all (d, d)."""

    required: Adjacency
    barred: Adjacency
    apart: Adjacency
    earlier: Adjacency

    def orienter(self, skeleton: Adjacency) -> Orienter:
        """Return an :class:`Orienter` of the skeleton."""


class Orienter:
    """Arrows drawn on a symmetric (d, d) skeleton, none of which closes a cycle."""

    def __init__(self, skeleton: Adjacency, known: Facts | None = None):
        self.graph = skeleton.copy()
        # Lines with arrowheads at both ends, and lines on a cycle of arrows; both symmetric.
        self._both, self._on_cycle = np.zeros_like(skeleton), np.zeros_like(skeleton)
        # [i, j]: j must not lead to i, although no arrow says so.
        self._before = np.zeros_like(skeleton) if known is None else known.earlier
        if known is not None:
            self._on_cycle |= skeleton & known.apart  # no arrow of theirs is allowed
            self.draw(known.required)
            self.draw(known.barred.T)

    def draw(self, wanted: Adjacency) -> bool:
        """Turn the lines that have one wanted arrowhead, but those on a cycle; False for none."""
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
        """Draw the arrows (d, d) of a probability above ``threshold``, strongest first.

        Arrows of one probability are drawn at once.
        """
        wanted = self.graph & self.graph.T & (arrows > threshold) & (arrows > arrows.T)
        for strength in np.unique(arrows[wanted])[::-1]:
            self.draw(wanted & (arrows == strength))

    def close(self, untested: Adjacency | None = None) -> None:
        """Draw the arrows that follow by Meek's rules, round by round, until none does.

        ``untested`` as for :func:`meek_rules`.
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

    ``skeleton`` symmetric (d, d). ``separating`` maps a pair to the sets found to separate it; z in
    x - z - y is a collider if it lies in fewer than half of them, and none if in exactly half
    (majority rule of Colombo and Maathuis 2014; with one set, the textbook rule). If a pair has no
    set, because it was known to be apart and not asked about, it is unknown whether z is a
    collider: no arrow rests on such a triple. A collider that would reverse a known arrow is not
    used.
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

    Where the DAG agrees with the knowledge, this is :func:`mpdag_of_dag`.
    """
    drawn = Orienter(dag | dag.T, known)
    drawn.draw(_heads(dag))
    drawn.close()
    return drawn.result


def _orienter(skeleton: Adjacency, known: Facts | None) -> Orienter:
    return Orienter(skeleton) if known is None else known.orienter(skeleton)


def mpdag_of_dag(dag: Adjacency, known: Facts | None = None) -> Adjacency:
    """All DAGs that data cannot tell from ``dag`` and knowledge allows: the maximal PDAG.

    Its CPDAG, the arrows of ``dag`` that knowledge decides, and Meek's (1995) rules. Where the
    knowledge is false of ``dag``, what of it is true is used.
    """
    drawn = Orienter(dag | dag.T)
    drawn.draw(_heads(dag) if known is None else _heads(dag) | dag & known.barred.T)
    drawn.close()
    return drawn.graph


def _heads(dag: Adjacency) -> Adjacency:
    """Return the arrows into a node that has another parent apart from their tail."""
    return dag & product(apart_of(dag), dag)


# Meek's rules and their parts ---------------------------------------------------


def meek_rules(graph: Adjacency, untested: Adjacency | None = None) -> Adjacency:
    """[i, j] is True where one of Meek's (1995) rules 1-4 turns the line i - j into i -> j.

    Rules 1, 3 and 4 need a pair that is not adjacent to have no other collider than the graph's.
    They pass over ``untested`` pairs (d, d, symmetric), of which that is not known.
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
    """Whether any of these rows has an entry in any of these columns; most often there are none."""
    return bool(rows.size and columns.size and graph[np.ix_(rows, columns)].any())


def apart_of(graph: Adjacency) -> Adjacency:
    """(d, d), symmetric: the pairs of different columns that are not adjacent."""
    return ~(graph | graph.T | np.eye(len(graph), dtype=bool))


def reachable(arrows: Adjacency) -> Adjacency:
    """[i, j]: a directed path of one arrow or more leads from i to j."""
    out: Adjacency = arrows.copy()
    for _ in range(len(out).bit_length()):  # each doubles the length of the paths
        out |= product(out, out)
    return out


def product(a: Adjacency, b: Adjacency) -> Adjacency:
    """Return the Boolean product, by BLAS: counts stay far below where float32 rounds to 0."""
    return np.asarray(a.astype(np.float32) @ b.astype(np.float32) > 0)
