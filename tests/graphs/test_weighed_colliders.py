"""Directions from graded evidence: exact on small graphs, the truth with an oracle's evidence."""

import math
from itertools import combinations

import numpy as np
import pytest

from engine import load_dataset, run
from engine.graphs import weighed_colliders
from engine.graphs.known import truth_cpdag
from engine.graphs.orientation import by_strength, mpdag_of_dag
from engine.graphs.weighed_colliders import (
    MOST_LOG_ODDS,
    arrow_probabilities,
    collider_weights,
    orient,
    sampled_dags,
    separators,
    unshielded,
)
from scripts.orientations import dags_on
from tests.graphs.small import graph, has_cycle


def random_dag(rng, d):
    dag = np.triu(rng.random((d, d)) < rng.uniform(0.2, 0.9), 1)
    order = rng.permutation(d)
    return dag[np.ix_(order, order)]


@pytest.mark.parametrize("seed", range(4))
def test_probabilities_are_those_of_all_dags(seed, monkeypatch):
    """Against full enumeration. The chain is a fixed sequence: this cannot fail by chance.

    4,000 correlated samples have standard errors of about .02.
    """
    monkeypatch.setattr(weighed_colliders, "SWEEPS", 20_000)
    rng = np.random.default_rng(seed)
    dag = random_dag(rng, 5)
    skeleton = dag | dag.T
    weights = {t: float(rng.normal(0, 1.5)) for t in unshielded(skeleton)}
    total, exact = 0.0, np.zeros(skeleton.shape)
    for g in dags_on(skeleton):
        p = math.exp(sum(w for (a, z, b), w in weights.items() if g[a, z] and g[b, z]))
        cpdag = mpdag_of_dag(g)
        total, exact = total + p, exact + p * (cpdag & ~cpdag.T)
    met = sampled_dags(skeleton, weights)
    assert arrow_probabilities(met, weights) == pytest.approx(exact / total, abs=0.06)


def test_no_cycle_is_drawn():
    """Whatever the weights, and however low the threshold."""
    rng = np.random.default_rng(5)
    for _ in range(10):
        dag = random_dag(rng, 7)
        weights = {t: float(rng.normal(2, 4)) for t in unshielded(dag | dag.T)}
        found = by_strength(dag | dag.T, orient(dag | dag.T, weights).arrows, None, 0.01).matrix
        assert not has_cycle(found & ~found.T)


def test_weights_compare_sets_with_and_without():
    """The sign says which sets separate; directions rest on bounded evidence."""
    star = graph(3, "0-1", "2-1")
    weights = collider_weights(star, lambda a, b, s: 1e9 if 1 in s else -3.0, 3)
    assert orient(star, weights).evidence == {(0, 1, 2): MOST_LOG_ODDS}
    weights = collider_weights(star, lambda a, b, s: -math.inf if 1 in s else 1.0, 3)
    assert weights == {(0, 1, 2): pytest.approx(-6.0)}


@pytest.mark.parametrize("name", ["asia", "survey", "sachs", "child", "alarm"])
def test_an_oracle_gives_the_true_cpdag(name):
    """Without errors in the evidence both rules give the truth: their limits meet."""
    data = load_dataset(name, n=10)
    found = run("pc", data, statistic="oracle", orientation="strongest", max_order=10)
    assert (found.matrix == truth_cpdag(data.truth, data.names)).all()


def test_sets_are_asked_about_once_and_by_whole_sizes(monkeypatch):
    """Both ends have the same four neighbours: 5 sets up to one, 11 up to two, 15 up to three."""
    skeleton = ~np.eye(6, dtype=bool)
    skeleton[0, 5] = skeleton[5, 0] = False
    for most, last in ((1, 0), (5, 1), (10, 1), (11, 2), (14, 2), (15, 3)):
        monkeypatch.setattr(weighed_colliders, "MOST_SETS", most)
        expected = [s for size in range(last + 1) for s in combinations(range(1, 5), size)]
        assert separators(skeleton, 0, 5, 3, None) == expected


def test_a_single_link_compiles_nothing_more():
    """Its array of one row is in both of numpy's layouts, a longer one in whichever it was made."""
    for d in (2, 4):
        path = graph(d, *(f"{k}-{k + 1}" for k in range(d - 1)))
        orient(path, dict.fromkeys(unshielded(path), 1.0))
    assert len(weighed_colliders._temper.signatures) == 1
