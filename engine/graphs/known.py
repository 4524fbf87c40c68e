"""What is known, for the columns of one table: what may cause, separate, and be turned.

A (d, d) matrix ``barred[i, j]`` says that column i is no direct cause of column j. Everything here
is a function of public facts and of graphs; no row is looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache

import networkx as nx
import numpy as np

from engine.graphs.cpdag import Adjacency, SeparatingSets, matrix_of
from engine.graphs.meek import cpdag, cpdag_of_dag, meek, product
from engine.knowledge import ORIENTS, Knowledge, check_names


class Known:
    """Knowledge on the columns of one table, in their order.

    ``barred[i, j]``: i is no direct cause of j. ``required[i, j]``: it is one. ``apart`` (d, d),
    symmetric: neither causes the other directly, so the two are not linked and are never tested.
    ``linked``, symmetric: the pairs with a required link. ``earlier[i, j]``: i is in an earlier
    tier than j; never so of a column in no tier.
    """

    def __init__(self, knowledge: Knowledge, names: Sequence[str]):
        check_names(knowledge, names)
        self.knowledge, self.names = knowledge, tuple(names)
        self.only_orients = knowledge.use == ORIENTS
        self.barred: Adjacency = np.array(
            [[not knowledge.allows(a, b) for b in names] for a in names]
        )
        np.fill_diagonal(self.barred, True)
        self.required = matrix_of(nx.DiGraph([*knowledge.required]), names)
        self.apart = self.barred & self.barred.T
        np.fill_diagonal(self.apart, False)
        self.linked: Adjacency = self.required | self.required.T
        tiers = np.array([knowledge.tier(name) for name in names], float)  # None is NaN
        self.earlier: Adjacency = tiers[:, None] < tiers

    @cached_property
    def may_precede(self) -> Adjacency:
        """[i, j]: i may be an ancestor of j, along arrows that are not barred."""
        return reachable(~self.barred)

    def in_time(self, dag: Adjacency) -> bool:
        """Whether no path of arrows leads to an earlier tier, also through columns in no tier.

        Where every column is in a tier, the arrows that are barred see to it.
        """
        if set(self.names) <= {name for tier in self.knowledge.tiers for name in tier}:
            return True
        return not (self.earlier.any() and (reachable(dag) & self.earlier.T).any())

    def may_separate(self, z: int, x: int, y: int) -> bool:
        """Whether z may be in a set that is asked about x and y.

        What separates a pair is among the ancestors of one of them; where knowledge only turns
        links, every column may be asked about.
        """
        return self.only_orients or bool(self.may_precede[z, x] or self.may_precede[z, y])

    def fixed_arrows(self, skeleton: Adjacency) -> Adjacency:
        """The arrows on a symmetric skeleton that knowledge alone decides.

        Links that knowledge and the skeleton together would close to a cycle are left out.
        """
        arrows: Adjacency = skeleton & ~self.barred & self.barred.T
        ways = reachable(arrows)
        return np.asarray(arrows & ~(ways & ways.T))

    def joined(self, skeleton: Adjacency) -> Adjacency:
        """A skeleton with the required links, and without those barred in both directions."""
        return (skeleton | self.linked) & ~self.apart

    def turned(self, skeleton: Adjacency) -> Adjacency:
        """The skeleton with the arrows that knowledge alone decides."""
        graph = skeleton.copy()
        graph[self.fixed_arrows(skeleton).T] = False
        return graph

    def respected(self, graph: Adjacency) -> Adjacency:
        """The graph with two kinds of arrows laid open: barred ones, and those to an earlier tier.

        The latter lie on a directed path that leads there, through columns in no tier. There are
        none of the former unless links and knowledge contradict each other around a cycle.
        """
        arrows = graph & ~graph.T & ~self.barred
        if not self.in_time(arrows):
            back = (reachable(arrows) | np.eye(len(arrows), dtype=bool)).T
            arrows &= ~product(product(back, self.earlier.T), back)
        return np.asarray(graph | (graph & ~arrows).T)

    def settled(self, skeleton: Adjacency) -> tuple[int, int]:
        """How many of a skeleton's links knowledge alone gives a direction, and how many it has."""
        links = skeleton | skeleton.T
        return int(self.fixed_arrows(links).sum()), int(np.triu(links, 1).sum())


def reachable(arrows: Adjacency) -> Adjacency:
    """[i, j]: a directed path of one arrow or more leads from i to j."""
    out: Adjacency = arrows.copy()
    for _ in range(len(out).bit_length()):  # each doubles the length of the paths
        out |= product(out, out)
    return out


READY = {"two tiers": 2, "four tiers": 4, "complete order": None}


def ready_sets(truth: nx.DiGraph) -> dict[str, Knowledge]:
    """Knowledge that is true of a graph: its columns in two tiers, in four, in a complete order.

    Columns come by the longest path that ends at them, then as the graph has them; the tiers have
    as many columns each as can be.
    """
    place = {name: k for k, name in enumerate(truth)}
    generations = nx.topological_generations(truth)
    order = [name for some in generations for name in sorted(some, key=place.__getitem__)]
    parts = {name: np.array_split(order, count or len(order)) for name, count in READY.items()}
    return {
        name: Knowledge(tiers=tuple(tuple(part.tolist()) for part in some if len(part)))
        for name, some in parts.items()
    }


def known_of(knowledge: Knowledge | None, names: Sequence[str]) -> Known | None:
    """The knowledge on these columns; None where nothing is known. InputError for other names."""
    return Known(knowledge, names) if knowledge else None


def oriented(skeleton: Adjacency, separating: SeparatingSets, known: Known) -> Adjacency:
    """The skeleton's arrows: those that are known, then :func:`engine.graphs.meek.cpdag`."""
    return known.respected(cpdag(skeleton, separating, (known.turned(skeleton), known.apart)))


def mpdag_of_dag(dag: Adjacency, known: Known | None) -> Adjacency:
    """All DAGs that data cannot tell from ``dag`` and knowledge allows: the maximal PDAG.

    Its CPDAG, the arrows of ``dag`` that knowledge decides, and Meek's (1995) rules. Where the
    knowledge is false of ``dag``, what of it is true is used.
    """
    graph = cpdag_of_dag(dag)
    if known is None:
        return graph
    graph[known.barred & dag.T] = False
    return meek(graph)


@lru_cache(maxsize=64)
def truth_cpdag(
    truth: nx.DiGraph, names: tuple[str, ...], knowledge: Knowledge | None = None
) -> Adjacency:
    """What data and knowledge can tell of the true graph at best, columns in order of ``names``."""
    matrix = mpdag_of_dag(matrix_of(truth, names), known_of(knowledge, names))
    matrix.flags.writeable = False  # kept for every later run on the same data
    return matrix
