"""What a page says of a pair agrees with what runs do."""

from __future__ import annotations

import numpy as np
import pytest

from engine import Dataset, run
from engine.algorithms.anm import AnmParameters
from engine.data.simulated_pairs import simulate_pair
from engine.teaching.pairwise import Chance, Exhibit, agreement, chances

EPSILON = 0.5
WAYS = {
    ("kendall", "scores"): {"release": "scores", "score": "kendall", "protect": "test"},
    ("root_hsic", "difference"): {"release": "difference", "protect": "test"},
    ("vote", "vote"): {},
}


@pytest.fixture(scope="module")
def data() -> Dataset:
    return simulate_pair("wave", "laplace", n=100, seed=5)


@pytest.fixture(scope="module")
def shown(data: Dataset) -> list[tuple[int, dict[tuple[str, str], Chance]]]:
    """Of 80 splits: the true sign, and what is said of every way to release."""
    params = AnmParameters(epsilon=EPSILON, protect="test")
    exhibits = [Exhibit.of(data, params.setting(), seed) for seed in range(80)]
    ballot = params.block_rows(data.n), params.measures(data.n)
    return [
        (one.sign, {(c.name, c.release): c for c in chances(one, lambda _: ballot)})
        for one in exhibits
    ]


@pytest.mark.parametrize("way", list(WAYS))
def test_the_probability_is_the_share_of_runs(
    data: Dataset, shown: list[tuple[int, dict[tuple[str, str], Chance]]], way: tuple[str, str]
) -> None:
    """Over 80 splits: the mean probability against the share of right directions."""
    said, right = [agreement(found[way], sign, EPSILON) for sign, found in shown], []
    for seed in range(80):
        result = run("anm", data, seed=seed, epsilon=EPSILON, trace=False, **WAYS[way])
        assert result.metrics is not None
        right.append(result.metrics.directed_f1)
    assert abs(np.mean(right) - np.mean(said)) < 3 * np.sqrt(0.25 / len(right))
    assert abs(np.mean(said) - 0.5) > 0.02  # it says something
