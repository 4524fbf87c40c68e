"""Background knowledge about one table: possible causes, separators and directions.

In a (d, d) matrix, ``barred[i, j]`` means that column i is not a direct cause of column j.
Everything here depends only on public facts and on graphs, never on rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache

import networkx as nx
import numpy as np

from engine.graphs.cpdag import Adjacency, matrix_of
from engine.graphs.orientation import Orienter, mpdag_of_dag, product, reachable
from engine.knowledge import ORIENTS, Knowledge, check_names


class Known:
    """Knowledge about the columns of one table, in their order.

    ``barred[i, j]`` means that i is not a direct cause of j. ``required[i, j]`` means that it is.
    ``apart`` (d, d), symmetric, marks pairs in which neither causes the other directly. They have
    no edge and are never tested. ``linked``, symmetric, marks the pairs with a required edge.
    ``earlier[i, j]`` means that i is in an earlier tier than j; it is False for a column outside
    the tiers.
    """

    def __init__(self, knowledge: Knowledge, names: Sequence[str]):
        check_names(knowledge, names)
        self.knowledge, self.names = knowledge, tuple(names)
        self.barred: Adjacency = np.array(
            [[not knowledge.allows(a, b) for b in names] for a in names]
        )
        np.fill_diagonal(self.barred, True)
        self.required = matrix_of(nx.DiGraph([*knowledge.required]), names)
        self.apart = self.barred & self.barred.T
        np.fill_diagonal(self.apart, False)
        self.linked: Adjacency = self.required | self.required.T
        tiers = np.array([knowledge.tier(name) for name in names], float)  # None becomes NaN
        self.earlier: Adjacency = tiers[:, None] < tiers

    @property
    def on_links(self) -> Known | None:
        """The knowledge that decides on edges, or None if it is used only for directions."""
        return None if self.knowledge.use == ORIENTS else self

    def ordered(self, order: Sequence[int]) -> Known:
        """Return the same knowledge about the columns in another order."""
        return type(self)(self.knowledge, [self.names[i] for i in order])

    @cached_property
    def may_precede(self) -> Adjacency:
        """[i, j]: i may be an ancestor of j along directed edges that are not forbidden."""
        return reachable(~self.barred)

    @cached_property
    def telling(self) -> Adjacency:
        """(d, d), symmetric: pairs in ``apart`` whose separating sets may decide a direction.

        Both may point at a third column, and one of these two edges may be reversed.
        """
        allowed = ~self.barred
        open_at_first = product(allowed & allowed.T, allowed.T)
        return np.asarray(self.apart & (open_at_first | open_at_first.T))

    def in_time(self, dag: Adjacency) -> bool:
        """Return whether no directed path leads to an earlier tier, even outside the tiers.

        If every column is in a tier, the forbidden edges already ensure this.
        """
        if set(self.names) <= {name for tier in self.knowledge.tiers for name in tier}:
            return True
        return not (self.earlier.any() and (reachable(dag) & self.earlier.T).any())

    def may_separate(self, z: int, x: int, y: int) -> bool:
        """Return whether z may be in a conditioning set for x and y.

        A pair's separating set consists of ancestors of the two.
        """
        return bool(self.may_precede[z, x] or self.may_precede[z, y])

    def fixed_arrows(self, skeleton: Adjacency) -> Adjacency:
        """Return the directed edges on a symmetric skeleton that follow from knowledge only.

        Edges that would close a cycle through knowledge and the skeleton are left out, unless they
        are required.
        """
        arrows: Adjacency = skeleton & ~self.barred & self.barred.T
        return np.asarray(arrows & (self.required | ~reachable(arrows).T))

    def joined(self, skeleton: Adjacency) -> Adjacency:
        """Return a skeleton with the required edges, without those forbidden both ways."""
        return (skeleton | self.linked) & ~self.apart

    def turned(self, skeleton: Adjacency) -> Adjacency:
        """Return the skeleton with the directions that follow from knowledge only."""
        graph = skeleton.copy()
        graph[self.fixed_arrows(skeleton).T] = False
        return graph

    def orienter(self, skeleton: Adjacency) -> Orienter:
        """Return an :class:`Orienter` of the skeleton after it has drawn the known directions."""
        return Orienter(skeleton, self)

    def fixed(self, skeleton: Adjacency) -> tuple[int, int]:
        """Count a skeleton's edges whose direction knowledge fixes, and all its edges."""
        links = skeleton | skeleton.T
        return int(self.fixed_arrows(links).sum()), int(np.triu(links, 1).sum())


READY = {"two tiers": 2, "four tiers": 4, "complete order": None}


def ready_sets(truth: nx.DiGraph) -> dict[str, Knowledge]:
    """Return knowledge that is true of a graph: two tiers, four tiers, and a complete order.

    Columns are sorted by the longest path that ends at them, then in the graph's order; the tiers
    have sizes as equal as possible.
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
    """Return the knowledge about these columns, None if empty; InputError for other names."""
    return Known(knowledge, names) if knowledge else None


KnownBy = Callable[[Knowledge | None, Sequence[str]], Known | None]  # known_of or another rule


@lru_cache(maxsize=64)
def truth_cpdag(
    truth: nx.DiGraph, names: tuple[str, ...], knowledge: Knowledge | None = None
) -> Adjacency:
    """Return the identifiable part of the true graph, given knowledge, in ``names`` order."""
    matrix = mpdag_of_dag(matrix_of(truth, names), known_of(knowledge, names))
    matrix.flags.writeable = False  # cached for every later run on the same data
    return matrix
