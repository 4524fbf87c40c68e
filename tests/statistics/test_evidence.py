"""The likelihood of DAGs on released tensors, without noise and with it."""

import math
from functools import cache
from itertools import combinations

import numpy as np
import pytest

from engine.context import RunContext
from engine.data.dataset import Dataset
from engine.graphs.dags import classes
from engine.marginals.evidence import EFFECTS, Evidence
from engine.marginals.moments import release_orders, release_pairs
from engine.privacy.ledger import Ledger
from engine.randomness import Randomness
from engine.tables.store import store_of

N = 20_000
TRUE = np.array([[0, 0, 1, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 0]], dtype=bool)


@cache
def data(n=N):
    """a -> c <- b, c -> d; two, three, two and three levels."""
    rng = np.random.default_rng(11)
    a, b = rng.integers(2, size=n), rng.integers(3, size=n)
    c = (rng.random(n) < np.array([[0.2, 0.3, 0.6], [0.3, 0.7, 0.5]])[a, b]).astype(int)
    d = (rng.random(n)[:, None] > np.array([[0.5, 0.8], [0.2, 0.6]])[c]).sum(axis=1)
    return Dataset.from_codes(np.column_stack([a, b, c, d]))


def moments(rho, seed=0):
    session = RunContext(Randomness(seed), Ledger())
    found = release_pairs(session, store_of(data()), rho)
    release_orders(session, store_of(data()), found, rho)
    return found


def log_likelihood(dag):
    """The multinomial's, at its maximum, from the counts."""
    codes, cards, total = data().codes, data().cardinalities, 0.0
    for i in range(4):
        parents = np.flatnonzero(dag[:, i])
        config = np.ravel_multi_index(
            [codes[:, p] for p in parents] or [np.zeros(N, int)], [cards[p] for p in parents] or [1]
        )
        counts = np.zeros((config.max() + 1, cards[i]))
        np.add.at(counts, (config, codes[:, i]), 1)
        shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
        total += float((counts * np.log(np.where(counts, shares, 1))).sum())
    return total


def parameters(dag):
    cards = data().cardinalities
    return sum(
        (cards[i] - 1) * math.prod(cards[p] for p in np.flatnonzero(dag[:, i])) for i in range(4)
    )


def test_without_noise_it_is_schwarz_with_widths_beforehand():
    """Of DAGs that hold: the likelihood's difference, and log(1 + c n) / 2 for each parameter."""
    evidence = Evidence(moments(1e9), range(4))
    holding = [TRUE, np.triu(~np.eye(4, dtype=bool)), TRUE | (np.eye(4, k=3) > 0)]

    def expected(dag):
        costs = [-0.5 * parameters(dag) * math.log1p(c * N) for c in EFFECTS]
        return log_likelihood(dag) + float(np.logaddexp.reduce(costs))

    for one, other in combinations(holding, 2):
        said = evidence.of(one) - evidence.of(other)
        assert said == pytest.approx(expected(one) - expected(other), abs=1.0)


@pytest.mark.parametrize("rho", [1e9, 1.0, 1e-3])
def test_all_dags_of_a_class_have_the_same_evidence(rho):
    evidence = Evidence(moments(rho), range(4))
    links = TRUE | TRUE.T
    for c in classes(links | (np.eye(4, k=1) + np.eye(4, k=-1) > 0)):
        assert np.ptp([evidence.of(dag) for dag in c.members]) == 0
        assert np.ptp([Evidence(moments(rho), range(4)).of(dag) for dag in c.members]) < 0.2


@pytest.mark.parametrize(("stated", "fits"), [(1.0, True), (1 / 1.3**2, False), (1.3**2, False)])
def test_the_true_graph_fits_as_well_as_the_noise_says(stated, fits):
    """What is left of the 35 numbers is chi-square, whose mean is 22 if noise hides no parameter.

    40 releases; the mean's standard error is 1.1. It lies between 22 and 27 if the noise is what is
    stated, and outside if it is 30 % more or less.
    """
    found = []
    for seed in range(40):
        noisy = moments(3e-4, seed)
        noisy.noise_one *= stated
        noisy.noise_two *= stated
        for key in noisy.noise_higher:
            noisy.noise_higher[key] *= stated
        evidence = Evidence(noisy, range(4))
        fit = evidence._fitted([evidence._family(i, np.flatnonzero(TRUE[:, i])) for i in range(4)])
        found.append(float(fit.left @ fit.left))
    assert len(fit.left) == 35
    assert (22 < np.mean(found) < 27) == fits


def test_it_knows_the_noise():
    """Little noise: the true class is the surest by far. Much: no class is surer than another."""
    links = TRUE | TRUE.T
    for rho, clear in ((1.0, True), (1e-9, False)):
        evidence = Evidence(moments(rho), range(4))
        values = sorted(
            ((evidence.of(c.dag), bool((c.dag == TRUE).all())) for c in classes(links)),
            reverse=True,
        )
        assert (values[0][0] - values[1][0] > 10) == clear
        if clear:
            assert values[0][1]
        else:
            assert values[0][0] - values[-1][0] < 0.5
