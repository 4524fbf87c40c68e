"""The rivals other than MST: the guarantee of their noise, their draws, and their limit."""

import math
from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import chisquare

from benchmarks import rivals
from benchmarks.mst import rho_of
from engine import Dataset, load_dataset, run
from engine.graphs.known import truth_cpdag
from engine.graphs.metrics import compare
from engine.privacy.accounting import Guarantee, mu_to_epsilon
from engine.tables.store import store_of

TOTAL = Guarantee(0.5, 1e-6)
CARDS = (2, 3, 2, 2)
LEVELS = [[str(k) for k in range(r)] for r in CARDS]


def neighbours():
    """One record replaced by another that differs from it in every column."""
    rows = np.random.default_rng(0).integers(0, CARDS, (200, 4))
    rows[0] = 0
    other = rows.copy()
    other[0] = 1
    return Dataset.from_codes(rows, levels=LEVELS), Dataset.from_codes(other, levels=LEVELS)


class Recorder:
    """A generator that keeps the scale of every normal draw."""

    def __init__(self, seed):
        self._rest, self.scales = np.random.Generator(np.random.PCG64(seed)), list[float]()

    def normal(self, loc, scale, size):
        self.scales.append(scale)
        return self._rest.normal(loc, scale, size)

    def __getattr__(self, name):
        return getattr(self._rest, name)


def scales(key, monkeypatch):
    found = Recorder(0)
    monkeypatch.setattr(np.random, "default_rng", lambda seed: found)
    rivals.RIVALS[key](neighbours()[0], TOTAL, 0)
    return found.scales


def moved(sets):
    """The squared l2 distance of the neighbours' tables of these columns."""
    one, other = (store_of(data) for data in neighbours())
    return float(sum(((one.joint(s) - other.joint(s)) ** 2).sum() for s in sets))


@pytest.mark.parametrize("key", ["chow_liu", "flat"])
def test_one_gaussian_release_spends_the_whole_of_it(key, monkeypatch):
    sets = [*combinations(range(4), 4 if key == "flat" else 2)]
    found = scales(key, monkeypatch)
    assert len(found) == len(sets)
    mu = math.sqrt(moved(sets)) / found[0]
    assert set(found) == {found[0]}
    assert mu_to_epsilon(mu, TOTAL.delta) == pytest.approx(TOTAL.epsilon, rel=1e-6)


def test_privbayes_tables_have_the_share_that_is_left(monkeypatch):
    found = scales("privbayes", monkeypatch)
    assert len(found) == 4
    spent = sum(2.0 / (2 * sigma**2) for sigma in found)  # each table moves by sqrt 2
    assert spent == pytest.approx(0.7 * rho_of(TOTAL))


def test_the_distance_moves_by_what_is_proved():
    """Random tables and all neighbours of each: never more, and more than half of it."""
    rng, n, most = np.random.default_rng(1), 12, 0.0
    for _ in range(60):
        rows = rng.integers(0, 2, (n, 2)) * rng.integers(0, 2, (n, 1))
        before = distance(rows)
        for a, b in np.ndindex(2, 2):
            for i in range(n):
                other = rows.copy()
                other[i] = a, b
                most = max(most, abs(distance(other) - before))
    assert 1.5 < most <= 3 + 2 / n


def distance(rows):
    return rivals._distance(store_of(Dataset.from_codes(rows, levels=LEVELS[:1] * 2)), 12, 0, (1,))


def test_a_family_is_chosen_as_often_as_the_exponential_mechanism_does():
    data, rho, runs = neighbours()[0], 3.0, 2_500
    rng, seen = np.random.default_rng(2), dict[rivals.Family, int]()
    for _ in range(runs):
        first, second = rivals.network(data, rho, 12.0, rng)[:2]
        if first[0] == 0:
            seen[second] = seen.get(second, 0) + 1
    far = {(x, (0,)): rivals._distance(store_of(data), data.n, x, (0,)) for x in (1, 2, 3)}
    epsilon = math.sqrt(8 * rho / 3)  # three choices of epsilon^2 / 8 each
    weight = np.exp([epsilon * far[one] / (2 * (3 + 2 / data.n)) for one in far])
    counts = [seen.get(one, 0) for one in far]
    assert sum(counts) > 500
    assert chisquare(counts, sum(counts) * weight / weight.sum()).pvalue > 1e-3
    assert weight.max() > 1.5 * weight.min()  # so that even choices would be seen


def test_the_whole_table_is_the_nearest_of_its_sum():
    rng = np.random.default_rng(3)
    noisy = rng.normal(20.0, 30.0, 400)
    found = rivals.nearest_counts(noisy, 5_000, rng)
    level = brentq(lambda c: np.maximum(noisy - c, 0).sum() - 5_000, -1e4, 1e4)
    assert found.sum() == 5_000
    assert np.abs(found - np.maximum(noisy - level, 0)).max() < 1.0
    assert rivals.nearest_counts(np.array([3.0, 0.0, 2.0]), 5, rng).tolist() == [3, 0, 2]


def test_without_noise_the_whole_table_is_the_records():
    data = load_dataset("cancer", n=20_000, seed=0)
    found = rivals.flat(data, Guarantee(1e7, 1e-6), 0)
    assert np.array_equal(found, run("pc", data, statistic="g2", trace=False).matrix)
    assert rivals.flat(load_dataset("child", n=100), TOTAL, 0) is None


@pytest.mark.parametrize("key", ["chow_liu", "privbayes"])
def test_with_a_large_budget_a_tree_is_found(key):
    """Cancer's skeleton is a tree."""
    data = load_dataset("cancer", n=100_000, seed=0)
    found = rivals.RIVALS[key](data, Guarantee(1e4, 1e-6), 0)
    metrics = compare(found, truth_cpdag(data.truth, data.names))
    assert metrics.skeleton_f1 > 0.85
    again = rivals.RIVALS[key](data, Guarantee(1e4, 1e-6), 0)
    assert np.array_equal(found, again)
