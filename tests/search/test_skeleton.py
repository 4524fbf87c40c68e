"""The PC loop: exact with a perfect test, each question asked once, order and stopping."""

from collections import Counter
from itertools import combinations, product

import networkx as nx
import numpy as np
import pytest

from engine import load_dataset, run
from engine.search.skeleton import Graph, Query, TestByTest, search
from engine.statistics.oracle import Separation

SMALL = ("earthquake", "cancer", "asia", "survey", "sachs", "child")


@pytest.mark.parametrize(
    ("name", "stable"),
    [*((name, stable) for name in SMALL for stable in (False, True)), ("alarm", False)],
)
def test_oracle_recovers_the_cpdag(name, stable):
    """No error of a test, no error of the loop. The d-separation oracle is an ordinary statistic.

    Insurance takes a second, Water, Hailfinder and Win95pts minutes: checked by hand, not here.
    """
    data = load_dataset(name, n=50)
    result = run("pc", data, statistic="oracle", max_order=50, stable=stable, trace=False)
    assert result.metrics_all.shd == 0
    assert result.metrics_all.directed_f1 == result.metrics_all.skeleton_f1 == 1
    assert result.proven.epsilon == 0
    assert data.truth is not None
    for pair, sets in result.separating_sets.items():
        x, y = pair
        for given in sets:
            assert nx.is_d_separator(data.truth, {x}, {y}, set(given))
            assert not given & pair


def test_d_separation_is_that_of_networkx():
    """Every pair and set of forty random graphs."""
    rng, names, separated = np.random.default_rng(0), "abcde", 0
    for _ in range(40):
        order = rng.permutation(5)
        joined = np.argwhere(np.triu(rng.random((5, 5)) < rng.uniform(0.1, 0.8), 1))
        dag = nx.DiGraph((names[order[i]], names[order[j]]) for i, j in joined)
        dag.add_nodes_from(names)
        ours = Separation(dag, names)
        for (x, y), size in product(combinations(range(5), 2), range(4)):
            for given in combinations(set(range(5)) - {x, y}, size):
                theirs = nx.is_d_separator(dag, names[x], names[y], {names[g] for g in given})
                assert ours.separated(x, y, given) == ours.separated(y, x, given) == theirs
                separated += theirs
    assert 0.2 < separated / (40 * 80) < 0.8


class Recorder(TestByTest):
    """Answers from a seeded coin and remembers what it was asked."""

    def __init__(self, seed, share):
        super().__init__()
        self.asked: list[Query] = []
        self.edges: list[bool] = []
        self._rng, self._share, self._graph = np.random.default_rng(seed), share, None

    def begin_order(self, order, graph):
        self._graph = graph

    def independent(self, q):
        self.asked.append(q)
        self.edges.append(q.y in self._graph.adjacent(q.x))
        return bool(self._rng.random() < self._share)


@pytest.mark.parametrize("stable", [False, True])
@pytest.mark.parametrize("share", [0.0, 0.05, 0.3, 1.0])
def test_each_pair_and_set_is_asked_once(stable, share):
    for seed in range(10):
        rule, graph = Recorder(seed, share), Graph(7, stable=stable)
        search(graph, rule, 4)
        assert max(Counter(rule.asked).values()) == 1
        for q in rule.asked:
            assert q.x < q.y
            assert list(q.given) == sorted(set(q.given))
            assert not {q.x, q.y} & set(q.given)
        orders = [q.order for q in rule.asked]
        assert orders == sorted(orders)
        assert graph.tests_by_order() == tuple(Counter(orders)[k] for k in range(max(orders) + 1))
        assert stable or all(rule.edges)


@pytest.mark.parametrize(
    ("share", "d", "limit", "tests", "edges"),
    [(0.0, 5, 3, (10, 30, 30, 10), 10), (0.0, 6, 1, (15, 60), 15), (1.0, 5, 3, (10,), 0)],
)
def test_every_question_that_is_left_is_asked(share, d, limit, tests, edges):
    """Nothing independent: pairs x C(d - 2, k) sets up to the limit; everything: pairs alone."""
    rule, graph = Recorder(0, share), Graph(d)
    search(graph, rule, limit)
    assert graph.tests_by_order() == tests
    assert graph.edge_count() == graph.matrix().sum() // 2 == edges
    assert len(graph.separating) == d * (d - 1) // 2 - edges


def test_stable_draws_sets_from_the_start_of_the_order():
    """Once 0 - 1 and 0 - 2 are gone, only a frozen adjacency still offers {0} for 1 - 2."""

    class Script(TestByTest):
        def __init__(self):
            super().__init__()
            self.asked: list[Query] = []

        def independent(self, q):
            self.asked.append(q)
            return q in {Query(0, 1, (2,)), Query(0, 2, (1,))}

    plain, stable = Script(), Script()
    search(Graph(3), plain, 1)
    search(Graph(3, stable=True), stable, 1)
    assert Query(1, 2, (0,)) in stable.asked
    assert Query(1, 2, (0,)) not in plain.asked


def test_stable_keeps_every_separating_set_of_the_order():
    class AllAtOrderOne(TestByTest):
        def independent(self, q):
            return q.x == 0 and q.y == 1 and q.order == 1

    graph = Graph(5, stable=True)
    search(graph, AllAtOrderOne(), 3)
    assert set(graph.separating[frozenset((0, 1))]) == {frozenset({k}) for k in (2, 3, 4)}
    plain = Graph(5)
    search(plain, AllAtOrderOne(), 3)
    assert plain.separating[frozenset((0, 1))] == [frozenset({2})]


def test_a_rule_may_decide_by_node():
    """As EM-PC does: the loop removes what the generator yields, as it comes."""
    seen = []

    class ByNode:
        def begin_order(self, order, graph):
            pass

        def separate(self, x, order, graph):
            for y in graph.adjacent(x):
                yield Query(min(x, y), max(x, y), ())
                seen.append(len(graph.adjacent(x)))

    graph = Graph(4)
    search(graph, ByNode(), 0)
    assert seen == [2, 1, 0, 1, 0, 0]
    assert graph.edge_count() == 0


def test_check_runs_before_each_node_and_query_and_may_stop():
    class Stop(Exception):
        pass

    calls = []

    def check():
        calls.append(1)
        if len(calls) == 3:
            raise Stop

    graph, rule = Graph(5), Recorder(0, 1.0)
    with pytest.raises(Stop):
        search(graph, rule, 2, check=check)
    assert graph.edge_count() == 9  # stopped before the second query of node 0: one of 10 went
    assert graph.matrix().sum() == 18
