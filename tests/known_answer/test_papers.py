"""The papers' formulas, each computed a second time: from its proof, by search or by simulation."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from engine import InputError, theory
from engine.privacy.accounting import advanced_total
from engine.privacy.events import AboveThresholdEvent, ProposeTestReleaseEvent, StableEvent
from engine.statistics.base import p_sensitivity
from engine.statistics.kendall import KENDALL


def kendall_weight(rows: int) -> Fraction:
    """w of a stratum: the inverse of tau's variance."""
    return Fraction(9 * rows * (rows - 1), 2 * (2 * rows + 5))


@pytest.mark.parametrize("stratum", [2, 3, 10, 20, 1000])
def test_equation_16_of_curate(stratum: int) -> None:
    """1 / sqrt(2 pi) times 2 / (a - 1) times sqrt(2 / n) times how far the weight moves.

    The paper writes the old weight with a^2 in the place of a (a - 1).
    """
    old = kendall_weight(stratum) * Fraction(stratum, stratum - 1)
    grown = kendall_weight(stratum + 1) - old
    for n in (100, 100_000):
        wanted = 2 / (stratum - 1) * math.sqrt(2 / n) * float(grown) / math.sqrt(2 * math.pi)
        assert theory.kendall_p_bound(n, stratum) == pytest.approx(wanted, rel=1e-9)
    assert theory.kendall_p_bound(100, stratum) <= theory.kendall_p_bound(100)


def test_theorems_3_and_7_of_priv_pc() -> None:
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


def test_theorem_6_of_priv_pc_by_all_small_tables() -> None:
    """One more record moves tau by at most 2 / (n - 1), one replaced by at most 4 / m."""

    def tau(rows: tuple[tuple[int, int], ...]) -> float:
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


@pytest.mark.parametrize(("quota", "epsilon"), [(1, 1.0), (3, 0.5), (40, 2.0)])
def test_algorithm_5_costs_what_it_says(quota: int, epsilon: float) -> None:
    """A round's cost from its noise, composed over the quota: all of epsilon, or half and less."""

    def round_cost(scale: float) -> float:
        return AboveThresholdEvent(1.0, scale, 2 * scale).epsilon

    basic = theory.sparse_vector_scale(epsilon, quota)
    assert quota * round_cost(basic) == pytest.approx(epsilon)
    one = round_cost(theory.sparse_vector_scale(epsilon, quota, 1e-6))
    assert math.sqrt(2 * quota * math.log(1e6)) * one == pytest.approx(epsilon / 2)
    assert advanced_total(quota, one, 1e-6).epsilon <= epsilon


@pytest.mark.parametrize("m", [2, 10, 1000])
def test_theorem_3_of_kusner(m: int) -> None:
    """From the proof: entries of a centred kernel of at most 4, and 2 m - 1 changed ones, twice."""
    printed, improved = theory.hsic_bounds(m)
    assert printed == pytest.approx(2 * 4 * (2 * m - 1) / (m - 1) ** 2)
    assert improved == pytest.approx((12 * m - 11) / (m - 1) ** 2)
    assert 27 / (16 * m) + 4 / m**2 < improved < printed


@pytest.mark.parametrize("delta", [1e-5, 1e-3, 1e-2])
@pytest.mark.parametrize("changes", [1.0, 5.0, 10.0])
def test_theorem_4_of_kusner_by_10_000_draws(delta: float, changes: float) -> None:
    event = ProposeTestReleaseEvent(1.0, delta, 2)
    noise = np.random.default_rng(0).laplace(size=(10_000, 2))
    share = float(((changes + noise).max(axis=1) > event.threshold).mean())
    released, bound = theory.null_probabilities(changes, 1.0, delta)
    assert released == pytest.approx(share, abs=4 * math.sqrt(released / 10_000) + 1e-4)
    assert bound == 1.5 * delta
    # The bound is for one record; e records that could move it pass up to 2.8 times as often.
    assert theory.null_probabilities(1.0, 1.0, delta)[0] < bound
    assert theory.null_probabilities(math.e, 1.0, delta)[0] > bound


def test_theorem_6_of_kusner_by_simulation() -> None:
    event, noise = StableEvent(1.0, 1e-3), np.random.default_rng(1).laplace(size=100_000)
    for distance in (7.5, 9.0, 12.0):
        least = theory.stable_release_probability(distance, 1.0, 1e-3)
        share = float((distance + noise > event.threshold).mean())
        assert least <= share
        assert share == pytest.approx(1 - (1 - least) / 2, abs=0.005)  # half the noise is one-sided
    assert theory.stable_release_probability(1.0, 1.0, 1e-3) == 0


def test_corollary_3_21_by_advanced_composition() -> None:
    for total, slack in ((0.9, 1e-6), (0.1, 1e-3)):
        each = theory.repeated_epsilon(total, slack)
        assert math.sqrt(2 * 3 * math.log(1 / slack)) * each == pytest.approx(total / 2)
        assert advanced_total(3, each, slack).epsilon <= total
        assert each < total / 3  # three mechanisms alone add up to less: the corollary loses here


@pytest.mark.parametrize(
    "call",
    [
        lambda: theory.kendall_p_bound(10, stratum=1),
        lambda: theory.conditional_kendall_bound(10, 10),
        lambda: theory.sparse_vector_scale(1.0, 0),
        lambda: theory.hsic_bounds(1),
        lambda: theory.null_probabilities(1, 1, 0),
        lambda: theory.stable_release_probability(1, 0, 0.1),
        lambda: theory.repeated_epsilon(1.0, 0.1),
    ],
)
def test_numbers_out_of_range_are_refused(call) -> None:
    with pytest.raises(InputError):
        call()
