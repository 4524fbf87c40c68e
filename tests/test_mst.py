"""MST as ``make bench-utility`` runs it: against known answers, the laws of its draws, a solver."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import chisquare

from benchmarks import mst, peers
from engine import load_dataset, run
from engine.privacy.accounting import Guarantee


@pytest.mark.parametrize(
    ("epsilon", "delta", "rho"),
    [
        (1.0, 1e-6, 0.024355970359538372),  # by the authors' cdp2adp.py
        (0.05, 4.875026035157896e-07, 8.025851814705651e-05),
    ],
)
def test_rho_is_the_authors(epsilon, delta, rho):
    assert mst.rho_of(Guarantee(epsilon, delta)) == pytest.approx(rho, rel=1e-6)


def test_same_neighbours_is_a_removal_and_an_addition():
    half = peers.same_neighbours(Guarantee(1.0, 1e-6))
    assert half.epsilon == 0.5
    assert (1 + math.exp(0.5)) * half.delta == pytest.approx(1e-6)


def test_the_tables_together_spend_rho():
    """k tables with sigma^2 = k / (2 rho) are k / (2 sigma^2) = rho-zCDP for one record."""
    rho, k = 0.02, 4
    exact = {(c,): np.zeros(500) for c in range(k)}
    found = mst.measure(exact, rho, np.random.default_rng(0))
    noise = np.concatenate([m.value for m in found])
    assert noise.std() == pytest.approx(math.sqrt(k / (2 * rho)), rel=0.1)  # 6 deviations
    assert found[0].variance == pytest.approx(np.full(500, k / (2 * rho)))


def test_nearest_is_the_nearest_consistent_table():
    """A chain of three against a general solver on all eight cells' distribution."""
    rng, n = np.random.default_rng(3), 100
    names = [(0,), (1,), (2,), (0, 1), (1, 2)]
    joint = np.zeros((2, 2, 2))
    joint[0, 0, 0], joint[1, 1, 1], joint[0, 1, 1] = 70, 20, 10  # zeros: the orthant matters
    true = [joint.sum(axis=tuple({0, 1, 2} - set(c))) for c in names]
    measured = [
        mst.Measured(c, t + rng.normal(0, 8, t.shape), np.full(t.shape, 64.0 + 10 * len(c)))
        for c, t in zip(names, true, strict=True)
    ]

    def loss(cells):
        cube = cells.reshape(2, 2, 2)
        far = 0.0
        for m in measured:
            there = cube.sum(axis=tuple({0, 1, 2} - set(m.columns)))
            far += float((((there - m.value) ** 2) / m.variance).sum())
        return far

    best = minimize(
        loss,
        np.full(8, n / 8),
        bounds=[(0, None)] * 8,
        constraints={"type": "eq", "fun": lambda c: c.sum() - n},
        options={"ftol": 1e-12, "maxiter": 500},
    )
    fitted = mst.nearest(measured, n)
    assert best.success
    for c, table in fitted.items():
        assert table.min() >= 0
        assert table.sum() == pytest.approx(n, abs=0.1)
        solved = best.x.reshape(2, 2, 2).sum(axis=tuple({0, 1, 2} - set(c)))
        assert table == pytest.approx(solved, abs=0.1)


def test_a_pair_is_chosen_as_often_as_the_exponential_mechanism_does():
    rho = 0.05
    ones = {(c,): np.array([50.0, 50.0]) for c in range(3)}
    lean = {(0, 1): 3.0, (0, 2): 1.0, (1, 2): 0.0}  # the distance is four times this
    pairs = {p: 25 + s * np.array([[1.0, -1.0], [-1.0, 1.0]]) for p, s in lean.items()}
    rng, runs = np.random.default_rng(5), 4_000
    first = [mst.choose(pairs, ones, rho, rng)[0] for _ in range(runs)]
    epsilon = math.sqrt(8 * rho / 2)  # two choices of epsilon^2 / 8 each
    weight = np.exp([epsilon / 2 * 4 * s for s in lean.values()])
    seen = [first.count(p) for p in pairs]
    assert chisquare(seen, runs * weight / weight.sum()).pvalue > 1e-3


def test_with_a_large_budget_a_tree_is_found():
    """Cancer's skeleton is a tree: its synthetic table has the links and the schema."""
    data = load_dataset("cancer", n=20_000, seed=0)
    table = peers.synthetic("mst", data, Guarantee(50.0, 1e-6), seed=0)
    assert (table.data.n, table.data.levels) == (data.n, data.levels)
    again = mst.mst_table(data, Guarantee(50.0, 1e-6), seed=0)
    assert np.array_equal(again.codes, table.data.codes)
    metrics = run("pc", table.data, statistic="g2", trace=False).metrics_all
    assert metrics.skeleton_f1 > 0.85
