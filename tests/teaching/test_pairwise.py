"""A page's statements about a pair agree with runs."""

import numpy as np
import pytest

from engine import run
from engine.algorithms.anm import AnmParameters
from engine.data.pairs import simulate_pair
from engine.teaching.pairwise import EPSILONS, picture
from engine.theory import iqr_direction_probability

EPSILON = 0.5
WAYS = {
    ("kendall", "scores"): {"release": "scores", "score": "kendall", "protect": "test"},
    ("root_hsic", "difference"): {"release": "difference", "protect": "test"},
    ("vote", "vote"): {},
}


@pytest.mark.slow
def test_the_probability_is_the_share_of_runs():
    """Over 80 splits: the share of right directions; the mean probability over each second one."""
    data = simulate_pair("wave", "laplace", n=100, seed=5)
    how = AnmParameters(epsilon=EPSILON, protect="test").setting()
    ways = [{(w.name, w.release): w for w in picture(data, how, s).ways} for s in range(0, 80, 2)]
    for way, values in WAYS.items():
        said, right = [found[way].chance(EPSILON) for found in ways], []
        for seed in range(80):
            result = run("anm", data, seed=seed, epsilon=EPSILON, trace=False, **values)
            right.append(result.metrics_all.directed_f1)
        assert abs(np.mean(right) - np.mean(said)) < 3 * np.sqrt(0.25 / len(right))
        assert abs(np.mean(said) - 0.5) > 0.02  # it says something


def test_an_iqr_is_withheld_at_small_epsilon_and_as_sure_as_its_theorem_at_large():
    data = simulate_pair("wave", "laplace", n=5_000, seed=5)
    shown = picture(data, AnmParameters(protect="test").setting(), 0)
    [way] = [way for way in shown.ways if way.name == "iqr"]
    released = iqr_direction_probability(abs(way.gaps[-1]), way.unit / EPSILONS[-1])
    assert way.right[0] == pytest.approx(0.5)
    assert way.right[-1] == pytest.approx(released, abs=0.01)
    assert released > 0.55
