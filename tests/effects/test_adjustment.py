"""Adjustment sets are valid in every linear model of every DAG of four columns."""

from itertools import permutations

import numpy as np
import pytest

from engine.effects.adjustment import PARENTS, SETS, adjustment_set
from engine.graphs.orientation import reachable
from scripts.orientations import all_dags


def test_every_set_gives_the_true_effect_in_every_linear_model():
    """Random weights: the adjusted slope is the sum over directed paths."""
    rng, dags = np.random.default_rng(6), np.array(all_dags(4))
    for dag in rng.choice(dags, 120, replace=False):
        weights = dag * rng.uniform(0.5, 1.5, dag.shape) * rng.choice([-1, 1], dag.shape)
        total = np.linalg.inv(np.eye(4) - weights)  # [i, j]: of i on j
        covariance = total.T @ np.diag(rng.uniform(0.5, 2, 4)) @ total
        ways = reachable(dag)
        for x, y in permutations(range(4), 2):
            if ways[y, x]:
                continue
            for sets in SETS:
                some = [x, *adjustment_set(dag, ways, x, y, sets)]
                slopes = np.linalg.solve(covariance[np.ix_(some, some)], covariance[some, y])
                assert slopes[0] == pytest.approx(total[x, y], abs=1e-9)


def test_the_optimal_set_leaves_out_what_only_moves_the_cause():
    """Instrument 0 → 1 → 2 ← 3: for 1 on 2 the parents are {0}, the optimal set is {3}."""
    dag = np.zeros((4, 4), dtype=bool)
    dag[0, 1] = dag[1, 2] = dag[3, 2] = True
    ways = reachable(dag)
    assert adjustment_set(dag, ways, 1, 2) == (3,)
    assert adjustment_set(dag, ways, 1, 2, PARENTS) == (0,)
    assert adjustment_set(dag, ways, 2, 0) == (1, 3)  # no path: the parents
