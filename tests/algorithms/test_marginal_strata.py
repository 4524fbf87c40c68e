"""The evidence in whole noisy tables: what it asks, what chance gives it, what it alone sees."""

import math
from itertools import combinations

import numpy as np
import pytest
from scipy.special import gammaincc
from scipy.stats import chi2_contingency

from engine import Dataset, run
from engine.algorithms import marginal_pc
from engine.marginals import strata
from engine.marginals.citest import EFFECTS, NoisyTests
from tests.effects.models import noisy

ALL = np.array(EFFECTS)


def dataset(codes, levels):
    names = [f"c{i}" for i in range(len(levels))]
    return Dataset.from_codes(
        codes, names, [tuple(map(str, range(r))) for r in levels], public=True
    )


def moments(data, deviation=0.0, seed=0):
    """Every tensor of the table with noise."""
    wide = [k for size in range(3, data.d + 1) for k in combinations(range(data.d), size)]
    return noisy(data, deviation, np.random.default_rng(seed), wide)


def explained(levels, n, seed):
    """x and y, each with a distribution of its own in every cell of the others, and no more."""
    rng, rest = np.random.default_rng(seed), levels[2:]
    s = np.column_stack([rng.choice(r, n, p=rng.dirichlet(np.full(r, 3.0))) for r in rest])
    cell = np.ravel_multi_index(tuple(s.T), rest)

    def drawn(r):
        shares = rng.dirichlet(np.full(r, 2.0), size=math.prod(rest)).cumsum(axis=1)
        return np.minimum((rng.random(n)[:, None] > shares[cell]).sum(axis=1), r - 1)

    return dataset(np.column_stack([drawn(levels[0]), drawn(levels[1]), s]), levels)


def test_the_table_s_noise_is_what_its_tensors_noise_makes_of_it():
    data = explained((3, 2, 2, 3), 500, 1)
    exact, found = strata.table(moments(data), 0, 1, (2, 3)), []
    for seed in range(400):
        noisy = strata.table(moments(data, 0.01, seed=seed), 0, 1, (2, 3))
        found.append((noisy.value - exact.value) ** 2 / noisy.noise.clip(1e-30))
    sizes = np.mean(found, axis=0)
    assert sizes == pytest.approx(np.ones_like(sizes), abs=5 * math.sqrt(2 / 400))


@pytest.mark.parametrize("levels", [(2, 2, 2), (3, 4, 2, 3)])
def test_without_noise_it_is_pearson_s_chi_square_of_the_strata(levels):
    data = explained(levels, 4000, 2)
    known = strata.Strata(strata.table(moments(data), 0, 1, tuple(range(2, len(levels)))), data.n)
    z2 = np.concatenate(
        [
            np.array([d @ np.linalg.solve(c, d)])
            for d, c in zip(known.found, known.covariance, strict=True)
        ]
    )
    cells = np.ravel_multi_index(tuple(data.codes.T[2:]), levels[2:])
    for c in range(math.prod(levels[2:])):
        counts = np.zeros(levels[:2])
        np.add.at(counts, tuple(data.codes[cells == c, :2].T), 1)
        assert z2[c] == pytest.approx(chi2_contingency(counts, correction=False).statistic)


RUNS = 300
FIVE_ERRORS = 5 * math.sqrt(0.05 * 0.95 / RUNS)


def share_below(levels, deviation):
    """How many p-values are below .05 where x and y are independent given the others.

    The statistic is the sum of the squares in the null's own directions, weighted as the factor
    weighs small effects, against a chi-square of the same mean and variance.
    """
    given, found = tuple(range(2, len(levels))), []
    for seed in range(RUNS):
        m = moments(explained(levels, 2000, seed), deviation, seed=seed)
        w, z2 = strata.directions(strata.Strata(strata.table(m, 0, 1, given), m.n))
        scale = w.sum() / (w**2).sum()
        found.append(gammaincc(w.sum() * scale / 2, (w * z2).sum() * scale / 2) < 0.05)
    return float(np.mean(found))


@pytest.mark.parametrize(("levels", "deviation"), [((3, 2, 2, 2), 1e-3), ((3, 2, 3), 1e-2)])
def test_chance_gives_what_it_says(levels, deviation):
    """.05 within five standard errors, with some noise and where noise is all there is."""
    assert share_below(levels, deviation) == pytest.approx(0.05, abs=FIVE_ERRORS)


def turning(n=20000, others=0):
    """x and y rise with s; where s is 0 they agree, and where it is 1 they disagree as much."""
    rng = np.random.default_rng(3)
    s = rng.integers(2, size=n)
    mean = np.where(s == 1, 0.8, 0.2)
    x = (rng.random(n) < mean).astype(int)
    y = rng.random(n) < np.where(s == 1, 0.7, 0.3) + np.where(s == 1, -0.3, 0.3) * (x - mean)
    codes = np.column_stack([x, y, s, rng.integers(2, size=(n, others))])
    return dataset(codes, (2,) * (3 + others))


def test_a_dependence_that_turns_from_cell_to_cell_is_seen():
    m = moments(turning(), 1e-4)
    assert NoisyTests(m).test(0, 1, (2,)).bayes < 0
    asked = NoisyTests(m, whole=True).test(0, 1, (2,))
    assert asked.bayes > 100


def test_a_set_without_a_stratum_of_five_records_says_nothing():
    data = dataset(np.array([[0, 0, 0], [1, 1, 1], [0, 1, 0], [1, 0, 1]]), (2, 2, 2))
    assert strata.log_bayes(moments(data), 0, 1, (2,), ALL) == 0.0


def test_either_kind_of_dependence_is_enough():
    """The factor is the mean of that of a mean over cells and that of the cells' own."""
    for data in (turning(), explained((2, 2, 2), 5000, 1)):
        m = moments(data, 1e-4)
        plain, own = NoisyTests(m).test(0, 1, (2,)), strata.log_bayes(m, 0, 1, (2,), ALL)
        both = NoisyTests(m, whole=True).test(0, 1, (2,)).bayes
        assert both == pytest.approx(np.logaddexp(plain.bayes, own) - math.log(2))


def links(found):
    return {(int(i), int(j)) for i, j in np.argwhere(found.matrix | found.matrix.T) if i < j}


def test_a_link_that_turns_its_sign_is_found_where_noise_is_small(monkeypatch):
    """With five columns more it is no table of few cells; without whole tables the link goes."""
    data = turning(others=5)
    found = run("marginal_pc", data, epsilon=30.0, seed=1, trace=False)
    assert found.ledger[3].label == "whole tables"
    assert links(found) == {(0, 1), (0, 2), (1, 2)}
    monkeypatch.setattr(marginal_pc, "QUIET", 0.0)
    found = run("marginal_pc", data, epsilon=30.0, seed=1, trace=False)
    assert links(found) == {(0, 2), (1, 2)}
