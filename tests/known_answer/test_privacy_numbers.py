"""The numbers of research/known-answers.md, computed by the engine and asserted."""

import math

import numpy as np
import pytest
from scipy.stats import norm

from engine import theory
from engine.privacy import accounting
from engine.privacy.accounting import (
    analytic_gaussian_sigma,
    compose,
    compose_any_pure,
    gaussian_delta,
)
from engine.privacy.events import AnalyticGaussianEvent
from engine.statistics.kendall import KENDALL, kendall_z
from engine.statistics.spearman import SPEARMAN
from tests.known_answer.test_papers import exact_delta
from tests.privacy.mechanisms_table import gaussian_curve

DELTA = 1e-6

COMPOSITION = {  # (epsilon of a step, steps): basic, advanced, curate, zcdp, pld
    (0.01, 100): (1, 0.5357, 0.5357, 0.5307, 0.3913),
    (0.1, 100): (10, 6.3082, 6.2565, 5.7565, 4.6927),
    (1.0, 10): (10, 33.8054, 26.6226, 21.6226, 9.9990),
    (1.0, 100): (100, 224.3934, 152.5652, 102.5652, 71.5460),
}
METHODS = ("basic", "advanced", "curate", "zcdp", "pld")


@pytest.mark.parametrize(("step", "count"), COMPOSITION)
@pytest.mark.parametrize("method", METHODS)
def test_composition(step, count, method):
    known = COMPOSITION[step, count][METHODS.index(method)]
    assert compose([step] * count, DELTA, method) == pytest.approx(known, abs=5.1e-5)


def test_pld_is_for_laplace_steps_and_the_worst_pure_step_costs_more():
    """Randomised response is the worst pure step; its total is not the table's."""
    for (step, count), row in COMPOSITION.items():
        worst = compose_any_pure([step] * count, DELTA)
        assert row[-1] < worst <= row[0]
    assert compose_any_pure([0.1] * 100, DELTA) == pytest.approx(4.7746, abs=1e-4)
    assert compose_any_pure([1.0] * 100, DELTA) == pytest.approx(83.5307, abs=1e-4)


def test_worst_pure_step_against_the_exact_composition():
    found = compose_any_pure([0.1] * 100, DELTA)
    assert exact_delta(100, 0.1, found) <= DELTA < exact_delta(100, 0.1, found - 2e-3)


def test_zcdp_budget():
    assert accounting.rho_budget(1, 1e-6) == pytest.approx(0.01746890, abs=5.1e-9)
    assert accounting.rho_budget(10, 1e-6) == pytest.approx(1.3530147, abs=5.1e-8)


@pytest.mark.parametrize(
    ("epsilon", "delta", "sigma"),
    [(1, 1e-5, 3.730632), (0.1, 1e-6, 36.304690), (5, 1e-3, 0.689842)],
)
def test_analytic_gaussian(epsilon, delta, sigma):
    assert analytic_gaussian_sigma(epsilon, delta) == pytest.approx(sigma, abs=5.1e-7)
    assert analytic_gaussian_sigma(epsilon, delta, 7.0) == pytest.approx(7 * sigma, abs=4e-6)


@pytest.mark.parametrize("delta", [1e-15, 1e-9, 1e-3])
@pytest.mark.parametrize("epsilon", [1e-9, 1e-6, 0.1, 5.0])
def test_the_gaussian_curve_to_ten_digits(epsilon, delta):
    """Where both terms agree in their first digits too; against sixty digits."""
    sigma = analytic_gaussian_sigma(epsilon, delta)
    event = AnalyticGaussianEvent(1.0, sigma, epsilon)
    assert gaussian_curve(event) == pytest.approx(delta, rel=1e-10)


@pytest.mark.parametrize(
    ("epsilon", "sigma"), [(1, 30), (1, 5), (0.2, 164.6), (7, 5), (57.4, 0.45), (1e-3, 1e4)]
)
def test_a_delta_far_in_the_tail_to_ten_digits(epsilon, sigma):
    """Down to 1e-257, where the terms' exponents are hundreds and their rounding with them."""
    exact = gaussian_curve(AnalyticGaussianEvent(1.0, sigma, epsilon))
    assert gaussian_delta(epsilon, sigma) == pytest.approx(exact, rel=3e-11, abs=0)


def test_sieve_epsilon():
    assert theory.sieve_epsilon(1, 1000, 1000) == pytest.approx(0.5, abs=1e-12)
    assert theory.sieve_epsilon(1, 1000, 100) == pytest.approx(2.0131966, abs=5.1e-8)
    # amplification takes it back to epsilon / 2
    inner = theory.sieve_epsilon(3.0, 1000, 17)
    assert math.log1p(0.017 * math.expm1(inner)) == pytest.approx(1.5, rel=1e-12)


@pytest.mark.parametrize(("epsilon", "rate"), [(0.5, 0.0724268), (1, 0.1654246), (2, 0.4381635)])
def test_best_rate(epsilon, rate):
    assert theory.best_rate(epsilon) == pytest.approx(rate, abs=5.1e-8)
    assert theory.best_subsample(epsilon, 10_000_000) == round(theory.best_rate(epsilon) * 1e7)


def test_best_rate_is_clipped():
    assert theory.best_rate(0.01) == 1 / 20
    assert theory.best_rate(50) == theory.best_rate(5000) == 1
    assert theory.best_subsample(1000, 3) == 3


KENDALL_EXAMPLE = np.array([[[30, 10], [5, 25]], [[12, 8], [9, 11]]])


def test_kendall_example():
    (a, b), (c, d) = KENDALL_EXAMPLE[0]
    assert (a * d - b * c, 12 * 11 - 8 * 9) == (700, 60)
    numerator = 9 * 700 / 145 + 9 * 60 / 85
    assert numerator == pytest.approx(49.801217, abs=5.1e-7)
    weights = sum(9 * n * (n - 1) / (2 * (2 * n + 5)) for n in (70, 40))
    assert weights == pytest.approx(232.484787, abs=5.1e-7)
    published, strict = kendall_z(KENDALL_EXAMPLE, "published"), kendall_z(KENDALL_EXAMPLE)
    assert published == pytest.approx(3.266199, abs=5.1e-7)
    assert published == pytest.approx(numerator / math.sqrt(weights), rel=1e-14)
    assert strict == pytest.approx(3.215995, abs=5.1e-7)
    assert KENDALL.score(KENDALL_EXAMPLE, "published").p == pytest.approx(5.4500745e-4, abs=5.1e-12)
    assert KENDALL.score(KENDALL_EXAMPLE, "strict").p == pytest.approx(6.4996545e-4, abs=5.1e-12)


def test_p_is_one_sided_of_the_absolute_z():
    flipped = KENDALL_EXAMPLE[:, ::-1]
    assert kendall_z(flipped) == pytest.approx(-kendall_z(KENDALL_EXAMPLE), rel=1e-14)
    assert KENDALL.score(flipped).p == pytest.approx(norm.sf(3.266199), rel=1e-5)
    assert KENDALL.score(np.array([[5, 5], [5, 5]])).p == 0.5


def test_sensitivity_constants():
    """Section 1's table and section 2; on n rows, c / sqrt(n)."""
    for levels, c in {2: 6, 3: 7.5, 4: 8}.items():
        got = KENDALL.sensitivity(10_000, levels, 7, conditional=True)
        assert got == pytest.approx(c / 100, rel=1e-12)
        a_l = 9 * (3 * levels - 4) / (4 * (levels - 1))
        assert c == pytest.approx(2 * a_l / 1.5, rel=1e-12)
    for n, most in ((2, 20 / 11), (3, 27 / 11), (4, 192 / 65), (5, 57 / 17)):  # of one added record
        wanted = 9 * ((2 * n + 5) * n + n * n - n) / ((2 * n + 5) * (2 * n + 7))
        assert most == pytest.approx(wanted, rel=1e-12)
    assert KENDALL.sensitivity(100, 10**6, 10**6, conditional=True) < 0.9
    assert KENDALL.sensitivity(100, 2, 2, conditional=False) == pytest.approx(0.3)
    assert KENDALL.sensitivity(100, 2, 3, conditional=False) == pytest.approx(0.6)
    assert SPEARMAN.sensitivity(100, 9, 9, conditional=False) == pytest.approx(0.6)
    assert SPEARMAN.sensitivity(100, 99, 99, conditional=True) == pytest.approx(1.0, rel=1e-3)


@pytest.mark.parametrize("method", METHODS)
def test_huge_steps_give_no_warning(method):
    """e^1000 overflows; the suite turns the engine's numerical warnings into errors."""
    total = compose([1000.0] * 5, DELTA, method)
    assert total >= 5000 or method == "pld"
    assert compose([], DELTA, method) == 0
    assert compose([0.0, 0.0], DELTA, method) == 0
