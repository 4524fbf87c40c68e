"""The papers' formulas, each computed a second time: from its proof, by search or by simulation."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from engine import InputError, theory
from engine.privacy.accounting import advanced_total, compose
from engine.privacy.events import AboveThresholdEvent, ProposeTestReleaseEvent, StableEvent
from engine.statistics.base import p_sensitivity
from engine.statistics.kendall import KENDALL


def kendall_weight(rows):
    """w of a stratum: the inverse of tau's variance."""
    return Fraction(9 * rows * (rows - 1), 2 * (2 * rows + 5))


@pytest.mark.parametrize("stratum", [2, 3, 10, 20, 1000])
def test_equation_16_of_curate(stratum):
    """1 / sqrt(2 pi) times 2 / (a - 1) times sqrt(2 / n) times how far the weight moves.

    The paper writes the old weight with a^2 in the place of a (a - 1).
    """
    old = kendall_weight(stratum) * Fraction(stratum, stratum - 1)
    grown = kendall_weight(stratum + 1) - old
    for n in (100, 100_000):
        wanted = 2 / (stratum - 1) * math.sqrt(2 / n) * float(grown) / math.sqrt(2 * math.pi)
        assert theory.kendall_p_bound(n, stratum) == pytest.approx(wanted, rel=1e-9)
    assert theory.kendall_p_bound(100, stratum) <= theory.kendall_p_bound(100)
    assert theory.kendall_p_bound(10_000) == pytest.approx(0.005129, abs=5e-7)  # at its largest


def test_theorems_3_and_7_of_priv_pc():
    """From the proof: (the weight's bound + its change) (tau + its change) - what was there."""
    for n, strata, least in ((1_000, 4, 5), (100_000, 30, 40)):
        c2 = 9 * least / (2 * (2 * least + 5))
        per_row = 9 / (4 * math.sqrt(c2 * (n - strata)))  # weight of a stratum over its rows - 1
        rows = least  # the stratum's, for which the proof's last term is largest
        weight, moved, tau, tau_moved = per_row * (rows - 1), per_row, 1.0, 2 / (rows - 1)
        exact = (weight + moved) * (tau + tau_moved) - weight * tau
        bound = theory.conditional_kendall_bound(n, strata, least)
        assert bound >= per_row * 3
        assert exact == pytest.approx(per_row * (3 + 2 / (rows - 1)))
        assert bound == pytest.approx(per_row * (3 + 2 / least))
    limit = theory.conditional_kendall_bound(10**9, 1)
    assert limit * math.sqrt(10**9) == pytest.approx(9 / 2, rel=1e-6)
    # What published runs take instead, on the p scale at the papers' n: the authors' 6 / sqrt(n).
    taken = KENDALL.published_sensitivity(100_000, None)
    assert round(p_sensitivity(taken), 5) == 0.00757
    assert round(p_sensitivity(theory.conditional_kendall_bound(100_001, 1)), 5) == 0.00568


def test_theorem_6_of_priv_pc_by_all_small_tables():
    """One more record moves tau by at most 2 / (n - 1), one replaced by at most 4 / m."""

    def tau(rows):
        pairs = [(a, b) for i, a in enumerate(rows) for b in rows[:i]]
        kept = sum(np.sign((a[0] - b[0]) * (a[1] - b[1])) for a, b in pairs)
        return float(kept / len(pairs))

    cells = list(product(range(3), range(3)))
    added = replaced = 0.0
    for rows in product(cells, repeat=3):
        for more in cells:
            added = max(added, abs(abs(tau((*rows, more))) - abs(tau(rows))))
            replaced = max(replaced, abs(tau((*rows[:2], more)) - tau(rows)))
    assert 0.4 < added <= 2 / (3 - 1)
    assert 1.0 < replaced <= 4 / 3


def exact_delta(times, each, total):
    """The delta at ``total`` of so many mechanisms of ``each``, enumerated for the worst of them.

    That is randomized response (Kairouz, Oh and Viswanath 2015, Theorem 3.3).
    """
    p = 1 / (1 + math.exp(-each))
    outcomes = [(math.comb(times, k), p**k * (1 - p) ** (times - k)) for k in range(times + 1)]
    twins = zip(outcomes, reversed(outcomes), strict=True)
    return sum(n * max(0.0, a - math.exp(total) * b) for (n, a), (_, b) in twins)


@pytest.mark.parametrize(("quota", "epsilon"), [(1, 1.0), (3, 0.5), (40, 2.0)])
def test_algorithm_5_costs_what_it_says(quota, epsilon):
    """A round's cost from its noise, composed over the quota: all of epsilon, or half and less."""

    def round_cost(scale):
        return AboveThresholdEvent(1.0, scale, 2 * scale).epsilon

    basic = theory.sparse_vector_scale(epsilon, quota)
    assert quota * round_cost(basic) == pytest.approx(epsilon)
    one = round_cost(theory.sparse_vector_scale(epsilon, quota, 1e-6))
    assert advanced_total(quota, one, 1e-6).epsilon <= epsilon
    assert exact_delta(quota, one, epsilon) <= 1e-6
    # Twice the noise that is needed: at half of it the bound of advanced composition still holds.
    assert exact_delta(quota, 2 * one, epsilon) <= 1e-6


@pytest.mark.parametrize("m", [3, 4, 6])
def test_theorem_3_of_kusner_by_matrices(m):
    """HSIC of kernels written out, a record replaced: no bound is passed.

    The proof counts the entries of K that one record changes, and what centring leaves of them.
    """
    rng, centre = np.random.default_rng(m), np.eye(m) - 1 / m

    def kernel(values):
        return np.exp(-((values[:, None] - values[None, :]) ** 2) / 0.02)

    moved = 0.0
    for _ in range(4_000):
        before = rng.integers(0, 3, (2, m)) / 2
        after = before.copy()
        after[:, 0] = rng.integers(0, 3, 2) / 2
        (k, other), (k2, other2) = ([kernel(column) for column in side] for side in (before, after))
        scores = [np.trace(a @ centre @ b @ centre) for a, b in ((k, other), (k2, other2))]
        moved = max(moved, abs(scores[0] - scores[1]) / (m - 1) ** 2)
    printed, improved = theory.hsic_bounds(m)
    spaced = np.arange(m) / 10
    changed = (kernel(spaced) != kernel(np.r_[-0.03, spaced[1:]])).sum() + 1  # the diagonal's 1
    spread = np.abs(centre).sum(axis=0).max() ** 2  # of a centred entry, below 4
    assert moved <= 27 / (16 * m) + 4 / m**2 < improved < printed
    assert moved > 0.05 * improved
    assert printed == pytest.approx(2 * 4 * changed / (m - 1) ** 2)
    assert spread < 4


@pytest.mark.parametrize("delta", [1e-5, 1e-3, 1e-2])
@pytest.mark.parametrize("changes", [1.0, 5.0, 10.0])
def test_theorem_4_of_kusner_by_10_000_draws(delta, changes):
    event = ProposeTestReleaseEvent(1.0, delta, 2)
    noise = np.random.default_rng(0).laplace(size=(10_000, 2))
    share = float(((changes + noise).max(axis=1) > event.threshold).mean())
    released, bound = theory.null_probabilities(changes, 1.0, delta)
    assert released == pytest.approx(share, abs=4 * math.sqrt(released / 10_000) + 1e-4)
    assert bound == 1.5 * delta
    # The bound is for one record; e records that could move it pass up to 2.8 times as often.
    assert theory.null_probabilities(1.0, 1.0, delta)[0] < bound
    assert theory.null_probabilities(math.e, 1.0, delta)[0] > bound


def test_theorem_6_of_kusner_by_simulation():
    event, noise = StableEvent(1.0, 1e-3), np.random.default_rng(1).laplace(size=100_000)
    for distance in (7.5, 9.0, 12.0):
        least = theory.stable_release_probability(distance, 1.0, 1e-3)
        share = float((distance + noise > event.threshold).mean())
        assert least <= share
        assert share == pytest.approx(1 - (1 - least) / 2, abs=0.005)  # half the noise is one-sided
    assert theory.stable_release_probability(1.0, 1.0, 1e-3) == 0


def test_corollary_3_21_by_advanced_composition():
    for total, slack in ((0.9, 1e-6), (0.1, 1e-3)):
        each = theory.repeated_epsilon(total, slack)
        assert advanced_total(3, each, slack).epsilon <= total
        assert exact_delta(3, each, total) == 0.0  # even without a slack: it is of no use here
        assert exact_delta(3, total / 3 * 1.01, total) > 0.0
    assert theory.repeated_epsilon(0.9, 1e-6) == pytest.approx(0.0494258, rel=1e-5)


@pytest.mark.parametrize(
    ("quadratic", "linear", "total", "epsilon"),
    [
        (0.0, 50.0, 10.0, 0.2),  # basic composition: total over tests
        (50.0, 0.0, 2.0, 0.2),  # zCDP: 100 tests of e^2 / 2
        (2.0, 1.0, 3.0, 1.0),  # 2 e^2 + e = 3
        (2.0, 1.0, 0.0, 0.0),
    ],
)
def test_a_uniform_budget(quadratic, linear, total, epsilon):
    assert theory.uniform_epsilon(quadratic, linear, total) == pytest.approx(epsilon, abs=1e-12)


@pytest.mark.parametrize(
    "call",
    [
        lambda: theory.sieve_epsilon(0, 10, 5),
        lambda: theory.sieve_epsilon(1, 10, 11),
        lambda: theory.affordable_iterations(1, 1, "geometric"),
        lambda: compose([0.1], 1e-6, "moments"),
        lambda: theory.kendall_p_bound(10, stratum=1),
        lambda: theory.kendall_p_bound(0),
        lambda: theory.conditional_kendall_bound(10, 10),
        lambda: theory.sparse_vector_scale(1.0, 0),
        lambda: theory.hsic_bounds(1),
        lambda: theory.null_probabilities(1, 1, 0),
        lambda: theory.stable_release_probability(1, 0, 0.1),
        lambda: theory.repeated_epsilon(1.0, 0.1),
        lambda: theory.uniform_epsilon(0.0, 0.0, 1.0),
        lambda: theory.uniform_epsilon(-1.0, 2.0, 1.0),
        lambda: theory.uniform_epsilon(1.0, 1.0, -1.0),
    ],
)
def test_numbers_out_of_range_are_refused(call):
    with pytest.raises(InputError, match=r"^[^\n]*\.$"):
        call()
