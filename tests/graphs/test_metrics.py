"""Metrics of small graphs worked out by hand."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from engine.graphs.cpdag import Adjacency
from engine.graphs.metrics import EdgeClass, classify, compare, truth_cpdag


def graph(d: int, *edges: str) -> Adjacency:
    out = np.zeros((d, d), dtype=bool)
    for edge in edges:
        a, b = int(edge[0]), int(edge[2])
        out[a, b] = True
        out[b, a] = edge[1] == "-"
    return out


# truth: 0 -> 2 <- 1, 2 -> 3, 3 - 4
TRUTH = graph(5, "0>2", "1>2", "2>3", "3-4")


def test_a_mixed_result() -> None:
    # 0 -> 2 right; 2 -> 1 turned; 2 - 3 loses its mark; 3 - 4 missed; 0 - 1 extra
    learned = graph(5, "0>2", "2>1", "2-3", "0-1")
    m = compare(learned, TRUTH)
    assert (m.correct, m.wrong_direction, m.extra, m.missed) == (1, 2, 1, 1)
    assert m.precision == m.recall == m.skeleton_f1 == 3 / 4
    assert m.directed_f1 == 1 / 4
    assert m.shd == 4
    assert classify(learned, TRUTH) == {
        (0, 1): EdgeClass.EXTRA,
        (0, 2): EdgeClass.CORRECT,
        (1, 2): EdgeClass.WRONG_DIRECTION,
        (2, 3): EdgeClass.WRONG_DIRECTION,
        (3, 4): EdgeClass.MISSED,
    }


def test_precision_and_recall_are_not_swapped() -> None:
    m = compare(graph(5, "0>2"), TRUTH)
    assert (m.precision, m.recall) == (1, 1 / 4)
    assert m.skeleton_f1 == pytest.approx(2 / 5)
    assert m.shd == 3
    m = compare(np.ones((5, 5), bool) ^ np.eye(5, dtype=bool), TRUTH)
    assert (m.precision, m.recall) == (4 / 10, 1)
    assert (m.correct, m.wrong_direction) == (1, 3)  # only 3 - 4 is undirected in truth
    assert m.shd == 9


def test_perfect_and_empty() -> None:
    m = compare(TRUTH, TRUTH)
    assert m.skeleton_f1 == m.directed_f1 == m.precision == m.recall == 1
    assert m.shd == 0
    none = np.zeros((5, 5), bool)
    m = compare(none, TRUTH)
    assert (m.skeleton_f1, m.recall, m.precision, m.shd) == (0, 0, 1, 4)
    m = compare(none, none)
    assert m.skeleton_f1 == m.directed_f1 == m.precision == m.recall == 1


def test_undirected_where_truth_is_directed_is_the_wrong_mark_both_ways() -> None:
    assert compare(graph(2, "0-1"), graph(2, "0>1")).wrong_direction == 1
    assert compare(graph(2, "0>1"), graph(2, "0-1")).wrong_direction == 1
    assert compare(graph(2, "1>0"), graph(2, "0>1")).wrong_direction == 1
    assert compare(graph(2, "0>1"), graph(2, "0>1")).correct == 1


def test_truth_enters_as_its_cpdag_in_the_order_of_the_columns() -> None:
    truth = nx.DiGraph([("a", "c"), ("b", "c"), ("c", "d")])
    found = truth_cpdag(truth, ("d", "c", "b", "a"))
    assert (found == graph(4, "3>1", "2>1", "1>0")).all()
    chain = nx.DiGraph([("a", "b"), ("b", "c")])
    assert (truth_cpdag(chain, ("a", "b", "c")) == graph(3, "0-1", "1-2")).all()
