"""Metrics of small graphs worked out by hand."""

import networkx as nx
import numpy as np
import pytest

from engine import load_dataset, run
from engine.graphs.known import truth_cpdag
from engine.graphs.links import LinkClass
from engine.graphs.metrics import Counts, classify, compare, count
from tests.graphs.small import graph

# truth: 0 -> 2 <- 1, 2 -> 3, 3 - 4
TRUTH = graph(5, "0>2", "1>2", "2>3", "3-4")


def test_a_mixed_result():
    # 0 -> 2 right; 2 -> 1 turned; 2 - 3 loses its mark; 3 - 4 missed; 0 - 1 extra
    learned = graph(5, "0>2", "2>1", "2-3", "0-1")
    m = compare(learned, TRUTH)
    assert m.precision == m.recall == m.skeleton_f1 == 3 / 4
    assert m.directed_f1 == 1 / 4
    assert m.shd == 4
    assert classify(learned, TRUTH) == {
        (0, 1): LinkClass.FALSE_POSITIVE,
        (0, 2): LinkClass.CORRECT,
        (1, 2): LinkClass.REVERSED,
        (2, 3): LinkClass.UNDIRECTED,
        (3, 4): LinkClass.MISSED,
    }


def test_perfect_and_empty():
    m = compare(TRUTH, TRUTH)
    assert m.skeleton_f1 == m.directed_f1 == m.precision == m.recall == 1
    assert m.shd == 0
    none = np.zeros((5, 5), bool)
    m = compare(none, TRUTH)
    assert (m.skeleton_f1, m.recall, m.precision, m.shd) == (0, 0, None, 4)
    m = compare(none, none)
    assert m.skeleton_f1 == m.directed_f1 == m.recall == 1
    assert m.precision is None


def test_a_pair_is_counted_once_and_what_is_not_tested_is_neither_found_nor_false():
    # 0 -> 2 right; 2 -> 1 turned; 2 -> 3 open and true; 0 - 1 open and false; 3 - 4 missed; 1 - 4
    # false
    learned = graph(5, "0>2", "2>1", "2>3", "0>1", "1-4")
    classes = classify(learned, TRUTH, untested={(2, 3), (0, 1)})
    counts = count(classes, TRUTH)
    kinds = {"correct": 1, "reversed": 1, "undirected": 0, "not_identifiable": 0, "missed": 1}
    assert counts == Counts(true=4, found=2, untested=2, false_positives=1, **kinds)
    assert counts.true_untested == 1
    scores = counts.scores
    assert (scores.precision, scores.recall) == (2 / 3, 2 / 4)
    assert scores.skeleton_f1 == pytest.approx(2 * 2 / (3 + 4))
    assert scores.directed_f1 == pytest.approx(2 * 1 / (3 + 4))
    assert scores.shd == 4  # 1 - 2 turned, 1 - 4 false, 3 - 4 missed, 2 - 3 not tested
    # As the graph stands, every pair in it is a link.
    assert (compare(learned, TRUTH).recall, compare(learned, TRUTH).precision) == (3 / 4, 3 / 5)


def test_a_direction_that_is_not_identifiable_is_found_and_not_turned():
    dag = graph(5, "0>2", "1>2", "2>3", "3>4")
    learned = graph(5, "0>2", "1>2", "2>3", "3>4")
    counts = count(classify(learned, TRUTH, dag=dag), TRUTH)
    assert (counts.found, counts.reversed, counts.undirected, counts.not_identifiable) == (
        4,
        0,
        0,
        1,
    )
    assert counts.scores.directed_f1 == compare(learned, TRUTH).directed_f1 == 3 / 4


@pytest.mark.parametrize(
    ("key", "values"),
    [("priv_pc", {"epsilon": 1.0}), ("priv_pc", {"epsilon": 0.1})],
)
def test_one_count_of_a_run_and_scores_with_and_without_what_was_not_tested(key, values):
    early = run(key, load_dataset("child", n=5000), **values)
    counts, tested, whole = early.counts, early.metrics_tested, early.metrics_all
    assert early.status == "budget_exhausted"
    assert counts.untested == len(early.untested) > 0
    assert counts.learned + counts.untested == len(early.skeleton)
    assert counts.true == 25
    assert tested.recall == counts.found / 25
    assert whole.recall == (counts.found + counts.true_untested) / 25 > tested.recall
    assert int(early.tested.sum()) < int(early.matrix.sum())
    assert not any(early.tested[i, j] or early.tested[j, i] for i, j in early.untested)


def test_where_all_was_tested_the_two_scores_are_one():
    for network in ("asia", "survey"):
        result = run("pc", load_dataset(network, n=5000))
        assert result.metrics_tested == result.metrics_all is not None
        assert (result.tested == result.matrix).all()


def test_the_kept_matrix_of_a_truth_cannot_be_changed():
    """It is the same array for every run on the same data."""
    truth = nx.DiGraph([("a", "c"), ("b", "c")])
    found = truth_cpdag(truth, ("a", "b", "c"))
    assert found is truth_cpdag(truth, ("a", "b", "c"))
    with pytest.raises(ValueError, match="read-only"):
        found[0, 1] = True
