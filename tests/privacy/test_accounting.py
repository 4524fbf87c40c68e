"""The accounting's conversions at their edges, against the formulas of their sources."""

import math

import pytest
from scipy.stats import norm

from engine.errors import InputError
from engine.privacy.accounting import (
    Guarantee,
    advanced_total,
    analytic_gaussian_sigma,
    compose,
    compose_any_pure,
    gaussian_delta,
    mu_budget,
    mu_to_epsilon,
    rho_budget,
    rho_to_epsilon,
    sampled_delta,
    sampled_epsilon,
    unsampled,
)
from engine.privacy.budget import HAIR, shares
from tests.privacy.readd import gaussian_epsilon


def test_no_cost_and_endless_cost_need_no_delta():
    assert rho_to_epsilon(0.0, 0.0) == 0
    assert rho_to_epsilon(math.inf, 1e-6) == math.inf
    assert rho_to_epsilon(0.5, 0.0) == math.inf
    assert rho_to_epsilon(0.5, 1e-6) == pytest.approx(0.5 + 2 * math.sqrt(0.5 * math.log(1e6)))
    assert rho_budget(math.inf, 1e-6) == mu_budget(math.inf, 1e-6) == math.inf
    assert mu_to_epsilon(0.0, 1e-6) == 0
    assert mu_to_epsilon(math.inf, 1e-6) == math.inf


@pytest.mark.parametrize("mu", [0.05, 0.3, 1.0, 4.0, 12.0])
def test_gaussian_dp_becomes_epsilon_by_its_curve(mu):
    for delta in (1e-9, 1e-3):
        assert mu_to_epsilon(mu, delta) == pytest.approx(gaussian_epsilon(mu, delta), rel=1e-8)


def test_so_little_noise_is_needed_that_epsilon_is_zero():
    """At epsilon 0 delta is 2 Phi(mu / 2) - 1."""
    delta = 2 * norm.cdf(0.05) - 1
    assert mu_to_epsilon(0.1, delta * 1.001) == 0
    assert 0 < mu_to_epsilon(0.1, delta * 0.999) < 1e-3


def test_the_curve_at_its_ends():
    assert gaussian_delta(0.0, 1.0) == pytest.approx(2 * norm.cdf(0.5) - 1, rel=1e-12)
    assert gaussian_delta(100.0, 50.0) == 0
    assert gaussian_delta(1.0, 1e-3) == 1
    assert analytic_gaussian_sigma(1.0, 1e-5, 2.5) == 2.5 * analytic_gaussian_sigma(1.0, 1e-5)


# Composition --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("steps", "delta", "sentence"),
    [
        *(([0.1], delta, "strictly between 0 and 1") for delta in (0.0, 1.0, -0.1, 1.1, math.nan)),
        *(([0.1, step], 1e-6, "at least 0") for step in (-1e-9, math.nan)),
    ],
)
def test_what_is_no_cost_or_no_delta_is_refused(steps, delta, sentence):
    for total in (compose, compose_any_pure):
        with pytest.raises(InputError, match=sentence):
            total(steps, delta)


def test_numerical_composition_never_exceeds_the_sum():
    assert compose([0.0, 0.2, 0.0], 1e-15, "pld") == pytest.approx(0.2, rel=1e-9)
    assert compose_any_pure([0.3], 1e-15) <= 0.3
    # where e^epsilon overflows it is the sum
    assert compose([501.0, 1.0], 1e-6, "pld") == 502.0
    assert compose_any_pure([501.0, 1.0], 1e-6) == 502.0
    # two kinds of steps: between the dearer alone and the sum
    both = compose([0.5] * 20 + [0.1] * 20, 1e-6, "pld")
    assert compose([0.5] * 20, 1e-6, "pld") < both < 12
    assert both > compose([0.4] * 20, 1e-6, "pld")


def test_advanced_total_is_the_papers():
    """sqrt(2 k ln(1/delta)) e + k e (e^e - 1)."""
    found = advanced_total(7, 0.3, 1e-4)
    wanted = math.sqrt(14 * math.log(1e4)) * 0.3 + 7 * 0.3 * (math.exp(0.3) - 1)
    assert found == Guarantee(pytest.approx(wanted), 1e-4)
    assert advanced_total(0, 0.3, 1e-4) == Guarantee(0.0, 0.0)
    assert advanced_total(1, 501.0, 1e-4) == Guarantee(math.inf, 1e-4)
    assert math.isfinite(advanced_total(1, 500.0, 1e-4).epsilon)


# A sample of the rows -----------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [1e-6, 0.3, 5.0, 400.0])
@pytest.mark.parametrize("rate", [0.01, 0.5, 0.999])
def test_a_sample_costs_less_and_back(epsilon, rate):
    """Balle, Barthe and Gaboardi 2018, Theorem 9: ln(1 + rate (e^epsilon - 1))."""
    found = sampled_epsilon(epsilon, rate)
    exact = math.log1p(rate * math.expm1(epsilon))
    assert found == pytest.approx(exact, rel=1e-12)
    assert unsampled(Guarantee(found, 1e-9), rate).epsilon == pytest.approx(epsilon, rel=1e-9)
    assert found < epsilon


def test_all_rows_are_no_sample_and_no_delta_is_above_a_half():
    total = Guarantee(700.0, 0.3)
    assert unsampled(total, 1.0) is total
    assert sampled_epsilon(700.0, 1.0) == 700.0
    assert unsampled(Guarantee(1.0, 1e-6), 0.1).delta == sampled_delta(1e-6, 0.1) == 1e-6 / 0.1
    assert sampled_delta(0.4, 0.5) == 0.5  # 0.8 would be no statement


def test_of_huge_epsilons_a_rate_is_a_mere_shift():
    assert sampled_epsilon(1e4, 0.1) == pytest.approx(1e4 + math.log(0.1), rel=1e-15)
    assert unsampled(Guarantee(1e4, 1e-9), 0.1).epsilon == pytest.approx(1e4 - math.log(0.1))
    assert sampled_epsilon(501.0, 1e-300) == 0.0
    for epsilon in (500.0, math.nextafter(500.0, 501)):  # on either side of the change
        assert sampled_epsilon(epsilon, 0.1) == pytest.approx(500 + math.log(0.1), rel=1e-12)
        assert unsampled(Guarantee(epsilon, 0.0), 0.1).epsilon == pytest.approx(
            500 - math.log(0.1), rel=1e-12
        )


# The budget a person declares ---------------------------------------------------------


def test_shares_are_the_total_in_equal_parts():
    basic = shares(Guarantee(2.0, 0.0), 8)
    assert basic == ("basic", 0.25 * (1 - HAIR))
    method, each = shares(Guarantee(2.0, 1e-6), 1000)
    assert method == "zcdp"
    assert rho_to_epsilon(1000 * each**2 / 2, 1e-6) == pytest.approx(2.0, rel=1e-9)
    assert 1000 * each**2 / 2 < rho_budget(2.0, 1e-6)
    # the better of the two, on either side of where they meet
    for count in range(1, 200):
        each = shares(Guarantee(2.0, 1e-6), count)[1]
        rho = rho_budget(2.0, 1e-6) / count
        assert each == pytest.approx(max(2.0 / count, math.sqrt(2 * rho)), rel=1e-9)
