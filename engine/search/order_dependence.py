"""Find the marks of a graph that depend on the order of the columns.

PC without the stable option makes its tests in column order, and each removed edge takes its ends
out of the conditioning sets of later tests. The set that separates a pair, and so the colliders,
may therefore be accidents of this order. This module repeats the search in other column orders,
using the answers of the run: a set that separated a pair still does, and a set that was not tested
separates no pair. The search makes no new test, so it costs no ε, but it cannot know the answers to
other tests.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from engine.graphs.cpdag import Adjacency, SeparatingSets
from engine.graphs.known import Known
from engine.search.pc import directed
from engine.search.skeleton import Graph, Query, search

Pair = tuple[int, int]
TURNS = 5  # number of columns from which an order starts, forwards and backwards


class Answered:
    """A rule that repeats the answers of a run."""

    def __init__(self, separating: SeparatingSets):
        self._separating = separating

    def begin_order(self, order: int, graph: Graph) -> None:
        """Do nothing."""

    def separate(self, x: int, order: int, graph: Graph) -> Iterator[Query]:
        """Return x's edges that a set of this order separated and that would be tested now."""
        for y in graph.asked_about(x):
            candidates = set(graph.candidates(x, y))
            for given in self._separating.get(frozenset((x, y)), ()):
                if len(given) == order and given <= candidates:
                    yield Query(min(x, y), max(x, y), tuple(sorted(given)))
                    break


def order_dependent(
    graph: Adjacency, separating: SeparatingSets, known: Known | None = None
) -> frozenset[Pair] | None:
    """Return the edges (i, j), i < j, that another column order marks differently.

    ``separating`` has the sets that separated pairs. Returns None if these answers do not reproduce
    the (d, d) graph in column order, because the graph then came from another method.
    """
    d = len(graph)
    orders = list(_orders(d))
    if not np.array_equal(_again(orders[0], separating, known), graph):
        return None
    turned = np.zeros_like(graph)
    for order in orders[1:]:
        other = _again(order, separating, known)
        turned |= (graph != other) | (graph != other).T
    links = np.argwhere(np.triu(turned & (graph | graph.T), 1)).tolist()
    return frozenset((i, j) for i, j in links)


def _orders(d: int) -> Iterator[list[int]]:
    """Yield column orders, the given one first."""
    for start in sorted({turn * d // TURNS for turn in range(TURNS)}):
        turned = [*range(start, d), *range(start)]
        yield turned
        yield turned[::-1]


def _again(order: Sequence[int], separating: SeparatingSets, known: Known | None) -> Adjacency:
    """Return the graph that the answers give in this order, with columns in the given order."""
    place = {column: at for at, column in enumerate(order)}
    answers = {
        frozenset(place[i] for i in pair): [frozenset(place[i] for i in some) for some in sets]
        for pair, sets in separating.items()
    }
    if known is not None:
        known = known.ordered(order)
    graph = Graph(len(order), known=known and known.on_links)
    largest = max((len(some) for sets in answers.values() for some in sets), default=0)
    search(graph, Answered(answers), largest)
    back = [place[i] for i in range(len(order))]
    return directed(graph, known).matrix[np.ix_(back, back)]
