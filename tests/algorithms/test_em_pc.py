"""EM-PC: the greedy distance and its failure, the utilities of a count, its limit."""

import numpy as np
import pytest

from engine import InputError, load_dataset, run
from engine.algorithms.em_pc import EMPCParameters, GapUtility, count_utilities
from engine.statistics.likelihood import G2


def flips(table, alpha, limit=1000):
    return G2.records_to_flip(np.array(table), alpha, limit)


def test_the_greedy_distance_is_not_1_sensitive():
    """The neighbours of research/theory/privacy.md: one record moves the distance by 10."""
    assert flips([[[60, 3], [15, 1]]], 0.01) == 12
    assert flips([[[60, 2], [15, 2]]], 0.01) == 2


def test_a_constant_column_goes_and_a_determined_one_stays():
    assert flips([[[5, 0], [7, 0]]], 0.01, limit=12) == 12
    assert flips([[[5, 0], [0, 0]], [[0, 0], [0, 7]]], 0.01, limit=12) == -12


def test_count_utilities_are_the_papers_cases_but_for_the_1():
    s = np.array([9.0, 4.0, -1.0, -6.0])  # c = 2
    assert count_utilities(s).tolist() == [-9, -4, 1, -1, -6]
    assert count_utilities(np.array([-2.0])).tolist() == [2, -2]
    assert count_utilities(np.array([3.0])).tolist() == [-3, 3]


def test_its_limit_with_the_oracle_is_the_true_skeleton():
    """Without noise and errors EM-PC finds the truth too; with errors it differs from PC."""
    data = load_dataset("asia", n=1_000, seed=0)
    for guarantee in ("published", "strict"):
        result = run("em_pc", data, statistic="oracle", epsilon=1e5, guarantee=guarantee)
        assert result.metrics_all.skeleton_f1 == 1
        assert result.metrics_all.shd == 0


def test_strict_refuses_g2():
    with pytest.raises(InputError, match="no strict form"):
        run("em_pc", load_dataset("cancer", n=1_000, seed=0), statistic="g2")


def test_a_published_edge_goes_with_its_best_set_alone():
    """Of a rank test too; strict runs draw among all sets, and of neither is anything charged."""
    data = load_dataset("asia", n=2_000, seed=0)
    found = {}
    for guarantee in ("strict", "published"):
        params = EMPCParameters(statistic="kendall", guarantee=guarantee)
        found[guarantee] = GapUtility(data, params).of(1, 0, [2, 4, 5], 1)
        run_ = run("em_pc", data, statistic="kendall", guarantee=guarantee, epsilon=50.0, seed=1)
        chosen = [c.order for c in run_.ledger if c.label == "separating sets"]
        assert chosen == ([1] if guarantee == "published" else [])
        assert len(run_.ci_tests_by_order) > 1
        assert run_.status == "complete"
    assert found["strict"][0] == [(2,), (4,), (5,)]
    ((best,), (utility,)) = found["published"]
    assert best in found["strict"][0]
    assert utility > 0 or utility == max(found["published"][1])
