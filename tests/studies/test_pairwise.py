"""What a page says of a pair agrees with what runs do."""

from __future__ import annotations

import numpy as np
import pytest

from engine import Dataset, run
from engine.algorithms.anm import AnmParameters
from engine.data.simulated_pairs import simulate_pair
from engine.studies.pairwise import Exhibit, agreement, chances

EPSILON = 0.5
WAYS = {
    ("kendall", "scores"): {"release": "scores", "score": "kendall", "protect": "test"},
    ("root_hsic", "difference"): {"release": "difference", "protect": "test"},
    ("vote", "vote"): {},
}


@pytest.fixture(scope="module")
def data() -> Dataset:
    return simulate_pair("wave", "laplace", n=100, seed=5)


@pytest.mark.parametrize("way", list(WAYS))
def test_the_probability_is_the_share_of_runs(data: Dataset, way: tuple[str, str]) -> None:
    """Over 80 splits: the mean probability against the share of right directions."""
    params, right, said = AnmParameters(epsilon=EPSILON, protect="test"), [], []
    for seed in range(80):
        shown = Exhibit.of(data, params.setting(), seed)
        found = chances(shown, lambda _: (params.block_rows(data.n), params.measures(data.n)))
        chance = next(c for c in found if (c.name, c.release) == way)
        said.append(agreement(chance, shown.sign, EPSILON))
        result = run("anm", data, seed=seed, epsilon=EPSILON, trace=False, **WAYS[way])
        assert result.metrics is not None
        right.append(result.metrics.directed_f1)
    assert abs(np.mean(right) - np.mean(said)) < 3 * np.sqrt(0.25 / len(right))
    assert abs(np.mean(said) - 0.5) > 0.02  # it says something
