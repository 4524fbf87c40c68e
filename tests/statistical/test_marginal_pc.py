"""Marginal PC under noise: its null is calibrated, and its tests see what is there.

Every bound is stated with the probability that a correct implementation fails it.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom

from benchmarks.random_networks import random_dataset
from engine import Dataset, run
from engine.algorithms import marginal_pc
from engine.context import RunContext
from engine.marginals import moments as released
from engine.marginals.citest import NoisyTests
from engine.marginals.kernels import CLEAR
from engine.privacy.accounting import Guarantee
from engine.privacy.ledger import Ledger
from engine.randomness import Randomness
from engine.tables.store import Store, store_of


def dataset(codes: np.ndarray, levels: tuple[int, ...]) -> Dataset:
    named = [list(map(str, range(r))) for r in levels]
    return Dataset.from_codes(codes, levels=named, public=True)


def moments_of(store: Store, epsilon: float, seed: int) -> released.Moments:
    """What the first release gives, with the whole of (epsilon, 1e-6) to spend."""
    ledger = Ledger(Guarantee(epsilon, 1e-6), method="zcdp")
    return released.release_pairs(RunContext(Randomness(seed), ledger), store, ledger.limit)


def fork(n: int, rng: np.random.Generator) -> Dataset:
    """x <- z -> y with three, three and two levels: x independent of y given z."""
    z = rng.choice(3, n, p=[0.5, 0.3, 0.2])
    x = (rng.random(n)[:, None] > np.cumsum([[0.7, 0.2], [0.2, 0.5], [0.3, 0.1]], 1)[z]).sum(1)
    y = (rng.random(n) < np.array([0.2, 0.6, 0.8])[z]).astype(int)
    return dataset(np.column_stack([x, y, z]), (3, 2, 3))


@pytest.fixture(scope="module")
def forks():
    """600 samples of one fork, for every epsilon."""
    rng = np.random.default_rng(3)
    return [store_of(fork(10_000, rng)) for _ in range(600)]


@pytest.mark.parametrize("epsilon", [0.3, 3.0])
def test_type_one_rate_under_noise(epsilon, forks):
    """At alpha = .05 the rate of 600 runs lies in [.02, .08].

    A test of true size .05 fails this with probability below 1e-3; the band leaves room for the
    first-order covariance and Satterthwaite's approximation.
    """
    runs, rejected = len(forks), 0
    for i, store in enumerate(forks):
        moments = moments_of(store, epsilon, i)
        rejected += NoisyTests(moments).test(0, 1, (2,)).p < 0.05
    assert binom.sf(round(0.08 * runs), runs, 0.05) < 1e-3
    assert 0.02 <= rejected / runs <= 0.08


def test_rare_levels_are_no_evidence():
    """Two columns of twelve levels, eleven of them rare, with noise as large as their shares.

    What is left of their variances leans to where the noise went. At alpha = .01 a test of true
    size .02 fails with probability .01; one that takes that for chance has a size of .28.
    """
    rng = np.random.default_rng(5)
    store = store_of(dataset(rng.choice(12, (10_000, 2), p=[0.9] + [0.1 / 11] * 11), (12, 12)))
    rejected = 0
    for seed in range(300):
        moments = moments_of(store, 0.1, seed)
        rejected += NoisyTests(moments).test(0, 1).p < 0.01
    assert binom.sf(12, 300, 0.02) < 0.02
    assert rejected <= 12


def test_noise_costs_power_but_not_calibration_of_the_margin():
    """The same fork is seen as dependent without its common cause."""
    tests = NoisyTests(moments_of(store_of(fork(20_000, np.random.default_rng(0))), 1.0, 0))
    assert tests.test(0, 1).bayes > 5
    assert tests.test(0, 1, (2,)).bayes < 0


def test_weighed_colliders_beat_the_vote(monkeypatch):
    """Directed F1 on 16 random networks of 10 nodes, mean gain over the majority rule above .1.

    On 40 other networks the gain was .264 with a standard deviation of .22: the mean of 16 falls
    below .1 with probability .002. A rule that gains nothing passes with probability .04.
    Both rules turn the links of one release.
    """
    gains, release = [], marginal_pc.release
    for seed in range(16):
        data = random_dataset(10, 13, 2000 + seed, n=20_000)
        first: list[NoisyTests] = []

        def once(*given, first=first):
            first.extend([] if first else [release(*given)])
            return first[0]

        monkeypatch.setattr(marginal_pc, "release", once)
        voted, weighed = (
            run("marginal_pc", data, epsilon=3.0, seed=seed, orientation=rule, trace=False)
            for rule in ("majority", "strongest")
        )
        assert voted.skeleton == weighed.skeleton
        gains.append(weighed.metrics.directed_f1 - voted.metrics.directed_f1)
    assert np.mean(gains) > 0.1


# Rare columns, and nothing to find ------------------------------------------------------------


def rare(n: int, d: int = 6, share: float = 0.004) -> Store:
    """Independent columns of two levels, one of them rare."""
    rng = np.random.default_rng(11)
    return store_of(dataset((rng.random((n, d)) < share).astype(int), (2,) * d))


def test_a_rare_columns_margin_is_not_moved():
    """The mean of 300 releases, whose noise is larger than the rare level's share.

    It lies within four standard errors of the truth but with probability 4e-4 for six columns; a
    floor at half a deviation of the noise moves it by eight.
    """
    store, found = rare(20_000), []
    for seed in range(300):
        moments = moments_of(store, 0.1, seed)
        found.append(moments.one)
    exact, _ = released.gram(store.rows)
    error = math.sqrt(moments.noise_one[0] / len(found))
    assert math.sqrt(moments.noise_one[0]) > 0.004
    assert np.abs(np.mean(found, axis=0) - exact / store.n).max() < 4 * error


@pytest.mark.parametrize(("epsilon", "share"), [(0.1, 0.004), (1.0, 0.02), (10.0, 0.02)])
def test_rare_columns_are_not_joined_by_their_margins(epsilon, share):
    """At alpha = .05 between .02 and .08 of 1,500 tests reject: with true size .05 but for 1e-6.

    Also where the noise hides the columns' variance: with two levels there is one direction, and
    what both have in common is told without it.
    """
    rejected = tests = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        store = store_of(dataset((rng.random((5_000, 6)) < share).astype(int), (2,) * 6))
        moments = moments_of(store, epsilon, seed)
        p = NoisyTests(moments)._marginal[0][np.triu_indices(6, 1)]
        rejected, tests = rejected + int(np.sum(p < 0.05)), tests + p.size
    assert tests == 1500
    assert 0.02 <= rejected / tests <= 0.08


def test_a_rare_columns_dependence_is_seen_though_its_variance_is_not():
    """Two columns of which one is nearly the other's copy and .01 of the rows; 100 releases.

    Their covariance stands 3.3 deviations out of its noise: p < .05 in .91 of the releases, and in
    fewer than 75 of a hundred with probability 1e-6.
    """
    rng = np.random.default_rng(12)
    first = rng.random(20_000) < 0.01
    codes = np.column_stack([first, first ^ (rng.random(20_000) < 0.001), rng.random(20_000) < 0.5])
    store, seen = store_of(dataset(codes.astype(int), (2, 2, 2))), 0
    for seed in range(100):
        moments = moments_of(store, 0.14, seed)
        seen += NoisyTests(moments)._marginal[0][0, 1] < 0.05
    mean = released.gram(store.rows)[0][0] / store.n
    assert 0.5 - mean**2 < CLEAR * 2 * abs(mean) * math.sqrt(moments.noise_one[0])
    assert seen >= 75


def test_a_link_that_is_not_seen_goes_with_its_reason():
    store_less = np.random.default_rng(4).integers(0, 2, (2_000, 5))
    result = run("marginal_pc", dataset(store_less, (2,) * 5), epsilon=0.1, seed=0)
    assert not result.skeleton
    reasons = {step.reason for step in result.steps if step.kind == "test"}
    assert any("no more than chance among all pairs" in reason for reason in reasons)
