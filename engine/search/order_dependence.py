"""Which marks of a graph depend on the order of the columns.

PC that is not stable asks in the order of the columns, and an edge that goes takes its ends out of
the sets that are asked later. So which set separates a pair, and with it which colliders there are,
may be an accident of that order. Here the search is repeated with the columns in other orders, on
the answers that it was given: a set that separated a pair still does, and a set that was not asked
about separates no pair. The search asks no new question, so it costs no ε; it cannot know the
answers to other questions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from engine.graphs.cpdag import Adjacency, SeparatingSets
from engine.graphs.known import Known
from engine.search.pc import directed
from engine.search.skeleton import Graph, Query, search

Pair = tuple[int, int]
TURNS = 5  # the columns are begun at that many places, forwards and backwards


class Answered:
    """The rule that gives the answers that were given."""

    def __init__(self, separating: SeparatingSets):
        self._separating = separating

    def begin_order(self, order: int, graph: Graph) -> None:
        """Nothing to prepare."""

    def separate(self, x: int, order: int, graph: Graph) -> Iterator[Query]:
        """Return x's edges that a set of this order separated and that would be asked about now."""
        for y in graph.asked_about(x):
            candidates = set(graph.candidates(x, y))
            for given in self._separating.get(frozenset((x, y)), ()):
                if len(given) == order and given <= candidates:
                    yield Query(min(x, y), max(x, y), tuple(sorted(given)))
                    break


def order_dependent(
    graph: Adjacency, separating: SeparatingSets, known: Known | None = None
) -> frozenset[Pair] | None:
    """Return the edges (i, j), i < j, that another order of the columns marks otherwise.

    ``separating`` are the sets that separated pairs. Returns None where these answers do not give
    the (d, d) graph in the order of its columns: it was found in another way, and there is no
    verdict.
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
    """Yield the columns' given order first."""
    for start in sorted({turn * d // TURNS for turn in range(TURNS)}):
        turned = [*range(start, d), *range(start)]
        yield turned
        yield turned[::-1]


def _again(order: Sequence[int], separating: SeparatingSets, known: Known | None) -> Adjacency:
    """Return the graph that the answers give in this order, its columns in the given one."""
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
