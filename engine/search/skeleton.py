"""The one PC loop (Spirtes, Glymour and Scheines; Priv-PC appendix A, Algorithm 3).

:func:`search` iterates over orders and nodes; a :class:`Rule` decides. The loop is independent of
privacy: a rule that exhausts its budget raises, and the graph keeps the decisions made until then.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import combinations
from typing import NamedTuple, Protocol

import numpy as np

from engine.graphs.cpdag import Adjacency
from engine.graphs.known import Known


class Query(NamedTuple):
    """Is x independent of y given the set? Always x < y, and ``given`` is sorted."""

    x: int
    y: int
    given: tuple[int, ...]

    @property
    def order(self) -> int:
        """The size of the conditioning set."""
        return len(self.given)


class Graph:
    """A skeleton that only loses edges, with the separating sets and the number of tests.

    With ``stable`` (PC-stable, Colombo and Maathuis 2014) conditioning sets come from the
    adjacencies at the beginning of the order, and all sets of an order that separate a pair are
    kept. Neither skeleton nor v-structures then depend on the column order.

    Background knowledge (``known``) leaves out pairs without an edge, skips tests of required
    edges, and restricts conditioning sets to possible ancestors. A pair without an edge is still
    tested if directions depend on the sets that separate it (``Known.telling``).
    """

    def __init__(self, d: int, *, stable: bool = False, known: Known | None = None):
        self.d, self.stable, self.known = d, stable, known
        self._live = [set(range(d)) - {i} for i in range(d)]
        # For each node, the nodes without an edge to it that are still tested, until a set
        # separates the pair.
        self._apart: list[set[int]] = [set() for _ in range(d)]
        if known is not None:
            for x in range(d):
                self._live[x].difference_update(np.flatnonzero(known.apart[x]).tolist())
                self._apart[x].update(np.flatnonzero(known.telling[x]).tolist())
        self._frozen = self._live
        self.separating: dict[frozenset[int], list[frozenset[int]]] = {}
        self.tests: Counter[int] = Counter()
        self.order = -1  # the current order of the search
        # (x, y): all of this order's sets on x's side of the edge have been tested.
        self.asked: set[tuple[int, int]] = set()
        # Called before every query; raises to stop the search (see :func:`search`).
        self.check: Callable[[], None] = lambda: None

    def begin_order(self, order: int) -> None:
        """Fix the adjacencies for the conditioning sets of this order, if stable."""
        self.order = order
        self.asked.clear()
        self._frozen = [set(a) for a in self._live] if self.stable else self._live

    def adjacent(self, x: int) -> list[int]:
        """Return the nodes that still have an edge to x, in column order."""
        return sorted(self._live[x])

    def open(self, x: int) -> list[int]:
        """Return the nodes that still have an undecided edge to x."""
        near = self.adjacent(x)
        return near if self.known is None else [y for y in near if not self.known.linked[x, y]]

    def asked_about(self, x: int) -> list[int]:
        """Return the nodes tested against x: those of :meth:`open` and those without an edge."""
        return sorted({*self.open(x), *self._apart[x]})

    def largest(self, x: int) -> int:
        """Return the size of the largest set among x's neighbours, or -1 without open tests."""
        return len(self._live[x]) - (not self._apart[x])

    def candidates(self, x: int, y: int) -> list[int]:
        """Return the nodes from which conditioning sets of x - y are drawn, on x's side."""
        near = sorted(self._frozen[x] - {y})
        if self.known is None:
            return near
        return [z for z in near if self.known.may_separate(z, x, y)]

    def separate(self, query: Query) -> None:
        """Remove the query's edge and record its set as separating."""
        for x, y in (query[:2], query[1::-1]):
            self._live[x].discard(y)
            self._apart[x].discard(y)
        self.separating.setdefault(frozenset((query.x, query.y)), []).append(frozenset(query.given))

    def matrix(self) -> Adjacency:
        """Return the symmetric (d, d) boolean matrix of edges."""
        return self._matrix(self._live)

    def questions(self) -> Adjacency:
        """Return the symmetric (d, d) boolean matrix of the pairs in :meth:`asked_about`."""
        return self._matrix(map(self.asked_about, range(self.d)))

    def _matrix(self, near: Iterable[Iterable[int]]) -> Adjacency:
        out = np.zeros((self.d, self.d), dtype=bool)
        for x, others in enumerate(near):
            out[x, list(others)] = True
        return out

    def untested(self) -> frozenset[tuple[int, int]]:
        """Return the edges (x < y) that this order has not fully tested."""
        sides = ((x, y) for x in range(self.d) for y in self.open(x))
        return frozenset(
            (min(x, y), max(x, y))
            for x, y in sides
            if (x, y) not in self.asked and len(self.candidates(x, y)) >= self.order
        )

    def edge_count(self) -> int:
        """Return the number of edges left."""
        return sum(map(len, self._live)) // 2

    def tests_by_order(self) -> tuple[int, ...]:
        """The number of conditional independence tests of order 0, 1, ..."""
        return tuple(self.tests[k] for k in range(max(self.tests, default=-1) + 1))


class Rule(Protocol):
    """The rule by which an algorithm removes edges."""

    def begin_order(self, order: int, graph: Graph) -> None:
        """Prepare an order; the search calls this before the order's first node."""

    def separate(self, x: int, order: int, graph: Graph) -> Iterator[Query]:
        """Yield the queries about x's edges that are found independent.

        The generator works on the live graph: the loop removes the edge of each query as it is
        yielded.
        """
        ...


class TestByTest:
    """The usual rule, with one decision per query. Subclasses define :meth:`independent`.

    A query is an unordered pair and a set. Each query is answered once per run. With ``both_sides``
    it is tested once from each node of the pair, and noise may give different answers.
    """

    __test__ = False  # not a pytest class

    def __init__(self, *, both_sides: bool = False) -> None:
        self._both_sides, self._asked = both_sides, set[Query]()

    def begin_order(self, order: int, graph: Graph) -> None:
        """Do nothing; an algorithm that plans overrides this."""

    def independent(self, q: Query) -> bool:
        """Return whether the query is found independent."""
        raise TypeError(f"{type(self).__name__} must define independent().")

    def separate(self, x: int, order: int, graph: Graph) -> Iterator[Query]:
        """Test x's edges, smallest sets of candidates first."""
        for y in graph.asked_about(x):
            for query in self._queries(x, y, order, graph):
                graph.check()
                self._asked.add(query)
                graph.tests[order] += 1
                if self.independent(query):
                    yield query
                    if not graph.stable:
                        break
            done = graph.stable or not order  # then x's side includes all tests of y's side
            graph.asked.update(((x, y), (y, x)) if done and not self._both_sides else ((x, y),))

    def _queries(self, x: int, y: int, order: int, graph: Graph) -> Iterator[Query]:
        """Yield the pair's untested queries of this order, from both sides if stable."""
        sides = ((x, y), (y, x)) if graph.stable and not self._both_sides else ((x, y),)
        low, high = min(x, y), max(x, y)
        for a, b in sides:
            for given in combinations(graph.candidates(a, b) if order else (), order):
                query = Query(low, high, given)
                if self._both_sides or query not in self._asked:
                    yield query


def search(
    graph: Graph, rule: Rule, max_order: int, *, check: Callable[[], None] = lambda: None
) -> None:
    """Run the PC loop on ``graph`` in place, orders 0 to ``max_order``.

    ``check`` is called before each node and each query, and may raise to stop the search.
    """
    graph.check = check
    for order in range(max_order + 1):
        if max(map(graph.largest, range(graph.d)), default=-1) < order:
            return
        graph.begin_order(order)
        rule.begin_order(order, graph)
        for x in range(graph.d):
            check()
            for query in rule.separate(x, order, graph):
                graph.separate(query)
