"""Orientation: CPDAGs against enumeration, and order independence."""

from functools import cache
from itertools import combinations

import networkx as nx
import numpy as np
import pytest

from engine.graphs.cpdag import digraph_of, matrix_of, pairs_of, unordered
from engine.graphs.orientation import by_sets, mpdag_of_dag
from scripts.orientations import all_dags, equivalent
from tests.graphs.small import graph


@cache
def classes(d):
    """Every Markov equivalence class (Verma and Pearl) and its union: the CPDAG by definition."""
    groups = {}
    for dag in all_dags(d):
        groups.setdefault(equivalent(dag), []).append(dag)
    return [(members, np.logical_or.reduce(members)) for members in groups.values()]


@pytest.mark.parametrize(("d", "dags", "count"), [(2, 3, 2), (3, 25, 11), (4, 543, 185)])
def test_cpdag_of_every_small_dag(d, dags, count):
    """The numbers of DAGs and of classes are the known ones (Gillispie and Perlman 2001)."""
    assert sum(len(members) for members, _ in classes(d)) == dags
    assert len(classes(d)) == count
    for members, union in classes(d):
        for dag in members:
            assert (mpdag_of_dag(dag) == union).all()


def test_cpdag_from_skeleton_and_any_separating_set():
    """All DAGs on 4 nodes, with every set that d-separates a pair taken in turn."""
    for dag in all_dags(4):
        truth = nx.from_numpy_array(dag, create_using=nx.DiGraph)
        skeleton = dag | dag.T
        choices = []
        for x, y in combinations(range(4), 2):
            if skeleton[x, y]:
                continue
            rest = [k for k in range(4) if k not in (x, y)]
            sets = [set(s) for k in range(3) for s in combinations(rest, k)]
            good = [frozenset(s) for s in sets if nx.is_d_separator(truth, {x}, {y}, s)]
            choices.append((frozenset((x, y)), good))
        expected = mpdag_of_dag(dag)
        for pick in (0, -1):
            separating = {pair: [good[pick]] for pair, good in choices}
            assert (by_sets(skeleton, separating).matrix == expected).all()


def test_conflicting_arrowheads_cancel():
    """0 -> 1 <- 2 and 1 -> 2 <- 3 disagree on 1 - 2, whatever comes first."""
    skeleton = graph(4, "0-1", "1-2", "2-3")
    separating = {frozenset((0, 2)): [frozenset()], frozenset((1, 3)): [frozenset()]}
    found = by_sets(skeleton, separating).matrix
    assert found[1, 2]
    assert found[2, 1]
    assert found[0, 1] & ~found[1, 0]
    assert found[3, 2] & ~found[2, 3]


def test_majority_of_the_separating_sets_decides():
    skeleton = graph(3, "0-1", "1-2")
    pair, inside, outside = frozenset((0, 2)), frozenset({1}), frozenset()
    chain, collider = skeleton, graph(3, "0>1", "2>1")
    for sets, expected in (
        ([inside], chain),
        ([outside], collider),
        ([outside, outside, inside], collider),
        ([outside, inside, inside], chain),
        ([outside, inside], chain),  # undecided: nothing is oriented
        ([], chain),
    ):
        assert (by_sets(skeleton, {pair: sets}).matrix == expected).all()
        assert (by_sets(skeleton, {pair: sets[::-1]}).matrix == expected).all()


def test_matrices_and_names():
    dag = nx.DiGraph([("b", "a"), ("b", "c")])
    matrix = matrix_of(dag, ("a", "b", "c"))
    assert set(digraph_of(matrix, ("a", "b", "c")).edges) == set(dag.edges)
    assert pairs_of(matrix, ("a", "b", "c")) == {frozenset("ab"), frozenset("bc")}
    assert unordered(pairs_of(matrix, ("a", "b", "c"))) == [("a", "b"), ("b", "c")]
    assert set(digraph_of(np.zeros((2, 2), bool), ("x", "y")).nodes) == {"x", "y"}
