"""Weights for directions from a run's releases, by :mod:`benchmarks.directions`."""

import math

import pytest

from benchmarks.directions import noise_variance, released
from engine import load_dataset, run
from engine.graphs.weighed_colliders import MOST_INDEPENDENCE
from engine.search.skeleton import Query
from engine.statistics.base import QueryScores
from engine.statistics.kendall import KENDALL


@pytest.mark.parametrize("key", ["gauss_pc", "curate_pc"])
def test_without_noise_values_are_the_parents_on_the_sets_it_asked(key):
    data = load_dataset("cancer", n=5000, seed=2)
    options = {"tests": 5000} if key == "gauss_pc" else {}
    private = run(key, data, epsilon=1e7, seed=1, **options)
    parent = run("pc", data, variant="strict", threshold=private.params.cutoff)
    found, at = released(private, data.n), {name: i for i, name in enumerate(data.names)}
    asked = {
        (at[s.x], at[s.y], tuple(at[g] for g in s.conditioning_set))
        for s in parent.steps
        if s.x and s.y
    }
    assert {(*pair, given) for pair, tests in found.items() for _, given in tests} == asked
    scores = QueryScores(data, KENDALL, "strict")
    for pair, tests in found.items():
        for odds, given in tests:
            exact = -KENDALL.log_odds(scores.full(Query(*pair, given)), data.n)
            assert odds == pytest.approx(max(-100.0, min(exact, MOST_INDEPENDENCE)), abs=0.01)
    for step in private.steps:
        if step.x is not None and step.value is not None:
            event = step.charges[-1].event
            scale = event.sigma if key == "gauss_pc" else math.sqrt(2) * event.scale
            assert noise_variance(step) == pytest.approx(scale**2)
