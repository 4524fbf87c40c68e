"""Marginal PC under noise: its null is calibrated, and its tests detect true dependence.

Every bound is stated with the probability that a correct implementation fails it.
"""

import math
from functools import reduce
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import binom

from engine import Dataset, run
from engine.context import RunContext
from engine.marginals import moments as released
from engine.marginals.citest import NoisyTests
from engine.marginals.kernels import CLEAR
from engine.privacy.accounting import Guarantee
from engine.privacy.ledger import Ledger
from engine.randomness import Randomness
from engine.tables.store import Rows


def sample(shares, n, rng):
    """The store of n rows: how often each cell is drawn, in the place of the rows themselves."""
    cells = np.indices(shares.shape).reshape(shares.ndim, -1).T.astype(np.uint8)
    counts = rng.multinomial(n, shares.ravel()).astype(np.int32)
    rows = Rows(np.asfortranarray(cells), counts, shares.shape, n)
    return SimpleNamespace(rows=rows, n=n, keep=lambda key, make: make())


def independent(d, share):
    """The cells of d columns of two levels that depend on nothing, one level rare."""
    return reduce(np.multiply.outer, [np.array([1 - share, share])] * d)


# z, x, y with three, three and two levels, x <- z -> y: x is independent of y given z.
Z, X, Y = 0, 1, 2
FORK = np.einsum(
    "z,zx,zy->zxy",
    [0.5, 0.3, 0.2],
    [[0.7, 0.2, 0.1], [0.2, 0.5, 0.3], [0.3, 0.1, 0.6]],
    [[0.8, 0.2], [0.4, 0.6], [0.2, 0.8]],
)


def moments_of(store, epsilon, seed):
    """What the first release gives, with the whole of (epsilon, 1e-6) to spend."""
    ledger = Ledger(Guarantee(epsilon, 1e-6), method="zcdp")
    return released.release_pairs(RunContext(Randomness(seed), ledger), store, ledger.limit)


@pytest.mark.parametrize("epsilon", [0.3, 3.0])
def test_type_one_rate_under_noise(epsilon):
    """At alpha = .05 the rate of 600 runs lies in [.02, .08].

    A test of true size .05 fails this with probability below 1e-3; the band leaves room for the
    first-order covariance and Satterthwaite's approximation.
    """
    runs, rejected, rng = 600, 0, np.random.default_rng(3)
    for i in range(runs):
        moments = moments_of(sample(FORK, 10_000, rng), epsilon, i)
        rejected += NoisyTests(moments).test(X, Y, (Z,)).p < 0.05
    assert binom.sf(round(0.08 * runs), runs, 0.05) < 1e-3
    assert 0.02 <= rejected / runs <= 0.08


def test_rare_levels_are_no_evidence():
    """Two columns of twelve levels, eleven of them rare, with noise as large as their shares.

    What is left of their variances leans to where the noise went. At alpha = .01 a test of true
    size .02 fails with probability .01; one that takes that for chance has a size of .28.
    """
    levels = np.array([0.9] + [0.1 / 11] * 11)
    store, rejected = sample(np.outer(levels, levels), 10_000, np.random.default_rng(5)), 0
    for seed in range(300):
        moments = moments_of(store, 0.1, seed)
        rejected += NoisyTests(moments).test(0, 1).p < 0.01
    assert binom.sf(12, 300, 0.02) < 0.02
    assert rejected <= 12


def test_noise_costs_power_but_not_calibration_of_the_margin():
    """The same fork is seen as dependent without its common cause."""
    tests = NoisyTests(moments_of(sample(FORK, 20_000, np.random.default_rng(0)), 1.0, 0))
    assert tests.test(X, Y).bayes > 5
    assert tests.test(X, Y, (Z,)).bayes < 0


# Rare columns, and nothing to find ------------------------------------------------------------


def test_a_rare_columns_margin_is_not_moved():
    """The mean of 300 releases, whose noise is larger than the rare level's share.

    It lies within four standard errors of the truth but with probability 4e-4 for six columns; a
    floor at half a deviation of the noise moves it by eight.
    """
    store, found = sample(independent(6, 0.004), 20_000, np.random.default_rng(11)), []
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
        store = sample(independent(6, share), 5_000, np.random.default_rng(seed))
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
    pair = np.outer([0.99, 0.01], [1, 1]) * [[0.999, 0.001], [0.001, 0.999]]
    shares = np.multiply.outer(pair, [0.5, 0.5])
    store, seen = sample(shares, 20_000, np.random.default_rng(12)), 0
    for seed in range(100):
        moments = moments_of(store, 0.14, seed)
        seen += NoisyTests(moments)._marginal[0][0, 1] < 0.05
    mean = released.gram(store.rows)[0][0] / store.n
    assert 0.5 - mean**2 < CLEAR * 2 * abs(mean) * math.sqrt(moments.noise_one[0])
    assert seen >= 75


def test_a_link_that_is_not_seen_goes_with_its_reason():
    codes = np.random.default_rng(4).integers(0, 2, (2_000, 5))
    result = run("marginal_pc", Dataset.from_codes(codes, public=True), epsilon=0.1, seed=0)
    assert not result.skeleton
    reasons = {(step.code, step.reason) for step in result.steps if step.kind == "test"}
    assert all(
        code == "not_seen" and "than chance among all pairs" in said for code, said in reasons
    )
    assert reasons
