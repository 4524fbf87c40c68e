"""What a ledger says of itself: every reading of a few charges, by hand, under every filter."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest

from engine.privacy.accounting import Guarantee, mu_budget, rho_budget, rho_to_epsilon
from engine.privacy.events import (
    GaussianEvent,
    LaplaceEvent,
    StableEvent,
    SubsampledEvent,
    UndefendedEvent,
)
from engine.privacy.ledger import BudgetExhausted, Ledger, _whole
from tests.privacy.mechanisms_table import renyi_of

CAP = Guarantee(4.0, 1e-6)
ORDER = 6.0


def filled(**options: Any) -> Ledger:
    """Two charges of order 0 and 2, the second in iteration 5."""
    ledger = Ledger(CAP, **options)
    ledger.charge(GaussianEvent(0.1, 1.0), label="a", order=0)
    ledger.charge(GaussianEvent(0.2, 1.0), label="b", order=2, iteration=5)
    return ledger


def paid(**options: Any) -> Ledger:
    """Two Laplace charges of 0.3 and 0.5."""
    ledger = Ledger(CAP, **options)
    ledger.charge(LaplaceEvent(0.3, 1.0), label="a", order=0)
    ledger.charge(LaplaceEvent(0.5, 1.0), label="a", order=1, iteration=5)
    return ledger


def test_a_basic_ledger_reads_in_epsilon() -> None:
    ledger = paid()
    assert ledger.used == pytest.approx(0.8)
    assert ledger.most == 4.0
    assert ledger.limit == pytest.approx(4.0, rel=1e-11)
    assert ledger.limit < 4.0
    assert ledger.left == pytest.approx(3.2)
    assert ledger.used_epsilon == pytest.approx(0.8)
    assert ledger.by_order() == {0: 0.3, 1: 0.5}
    assert ledger.by_iteration() == {5: 0.5}
    assert ledger.by_label() == {"a": pytest.approx(0.8)}
    assert ledger.defended == Guarantee(4.0, 0.0)  # no event adds to delta


def test_a_zcdp_ledger_reads_in_rho() -> None:
    ledger, rho = paid(method="zcdp"), 0.3**2 / 2 + 0.5**2 / 2
    assert ledger.used == pytest.approx(rho)
    assert ledger.most == pytest.approx(rho_budget(4.0, 1e-6))
    assert ledger.left == pytest.approx(ledger.most - rho)
    assert ledger.used_epsilon == pytest.approx(rho_to_epsilon(rho, 1e-6))
    assert ledger.by_order() == {0: pytest.approx(0.045), 1: pytest.approx(0.125)}
    assert ledger.defended == CAP


def test_a_gaussian_ledger_reads_in_half_squared_mu() -> None:
    ledger, half = filled(method="gdp"), 0.1**2 / 2 + 0.2**2 / 2
    assert ledger.used == pytest.approx(half)
    assert ledger.most == pytest.approx(mu_budget(4.0, 1e-6) ** 2 / 2)
    assert ledger.left == pytest.approx(ledger.most - half)
    # between nothing and zCDP's looser conversion
    assert 0 < ledger.used_epsilon < rho_to_epsilon(half, 1e-6)
    assert ledger.by_label() == {"a": pytest.approx(0.005), "b": pytest.approx(0.02)}
    assert ledger.by_iteration() == {5: pytest.approx(0.02)}


def test_a_renyi_ledger_reads_at_its_order() -> None:
    ledger = paid(method="rdp", renyi_order=ORDER)
    cost = sum(renyi_of(LaplaceEvent(e, 1.0), ORDER) for e in (0.3, 0.5))
    # Canonne, Kamath and Steinke 2020, Proposition 12
    shift = math.log(1 - 1 / ORDER) - (math.log(1e-6) + math.log(ORDER)) / (ORDER - 1)
    assert ledger.used == pytest.approx(cost)
    assert ledger.most == pytest.approx(4.0 - shift)
    assert ledger.used_epsilon == pytest.approx(cost + shift)
    assert Ledger(CAP, method="rdp", renyi_order=ORDER).used_epsilon == 0


@pytest.mark.parametrize("method", ["basic", "zcdp", "gdp"])
def test_a_run_on_a_sample_may_cost_what_the_cap_says_of_all_rows(method: str) -> None:
    """Balle, Barthe and Gaboardi 2018: ln(1 + (e^4 - 1) / rate), at delta / rate."""
    inner, delta = math.log1p(math.expm1(4.0) / 0.2), 5e-6
    ledger = Ledger(CAP, method=method, rate=0.2)
    wanted = {
        "basic": inner,
        "zcdp": rho_budget(inner, delta),
        "gdp": mu_budget(inner, delta) ** 2 / 2,
    }
    assert ledger.most == pytest.approx(wanted[method])
    ledger.charge(GaussianEvent(1.0, 4.0) if method == "gdp" else LaplaceEvent(0.7, 1.0))
    if method == "basic":
        assert ledger.used_epsilon == pytest.approx(math.log1p(0.2 * math.expm1(0.7)))
    if method == "zcdp":
        on_sample = rho_to_epsilon(0.7**2 / 2, delta)
        assert ledger.used_epsilon == pytest.approx(math.log1p(0.2 * math.expm1(on_sample)))


def test_nothing_is_left_of_a_budget_that_is_spent() -> None:
    ledger = Ledger(Guarantee(1.0, 1e-6))
    ledger.charge(LaplaceEvent(1.0, 1.0))
    assert ledger.left == 0  # and not minus a hair
    with pytest.raises(BudgetExhausted):
        ledger.charge(LaplaceEvent(1e-300, 1.0))


def test_without_a_cap_there_is_no_limit() -> None:
    ledger = Ledger(delta=1e-5)
    assert ledger.most == ledger.limit == ledger.left == math.inf
    assert ledger.defended == Guarantee(0.0, 0.0)
    assert ledger.affords(UndefendedEvent("anything"))
    ledger.charge(LaplaceEvent(0.3, 1.0))
    assert ledger.defended == Guarantee(0.3, 0.0)  # cheaper than by rho
    assert ledger.used_epsilon == 0.3
    ledger.charge(StableEvent(0.1, 1e-7))
    assert ledger.defended == Guarantee(pytest.approx(0.4), pytest.approx(1e-7))
    for _ in range(300):
        ledger.charge(LaplaceEvent(0.1, 1.0))
    rho = 0.3**2 / 2 + 301 * 0.1**2 / 2
    by_rho = rho_to_epsilon(rho, 1e-5)
    assert ledger.defended == Guarantee(pytest.approx(by_rho), pytest.approx(1e-5 + 1e-7))
    assert ledger.used_epsilon == pytest.approx(by_rho)
    assert Ledger().delta == 0
    assert Ledger(Guarantee(1.0, 1e-4), delta=1e-2).delta == 1e-4


def test_what_is_void_stays_void() -> None:
    ledger = paid()
    ledger.void("the seed is known")
    ledger.void("and the schema was read")
    assert ledger.undefended == ("the seed is known", "and the schema was read")
    assert ledger.defended == Guarantee(math.inf, 0.0)
    assert len(ledger) == 4
    assert ledger[2].label == "no guarantee"
    assert ledger[2].event == UndefendedEvent("the seed is known")
    assert ledger.used == pytest.approx(0.8)


def test_a_line_shows_epsilon_or_else_rho() -> None:
    pure, noisy = paid()[1], filled(method="gdp")[1]
    assert (pure.epsilon, pure.rho, pure.cost) == (0.5, pytest.approx(0.125), 0.5)
    assert noisy.epsilon == math.inf
    assert noisy.rho == noisy.cost == pytest.approx(0.02)


def test_events_fit_together_or_not_at_all() -> None:
    ledger = Ledger(Guarantee(1.0, 1e-6))
    fits, odd = LaplaceEvent(0.4, 1.0), UndefendedEvent("no noise")
    assert ledger.affords()
    assert ledger.affords(fits, fits)
    assert not ledger.affords(fits, fits, fits)
    assert not ledger.affords(fits, odd)
    assert not ledger.affords(odd, fits)
    assert len(ledger) == 0


def test_sums_are_exact_down_to_the_smallest_float() -> None:
    assert _whole(5e-324) == 1
    assert _whole(1.0) == 2**1074
    assert _whole(0.0) == 0
    for value in (0.1, 1e300, 3e-310, math.pi):
        assert _whole(value) == Fraction(value) * 2**1074
    ledger = Ledger(Guarantee(0.3, 0.0))
    for _ in range(2):
        ledger.charge(LaplaceEvent(0.1, 1.0))
    with pytest.raises(BudgetExhausted):  # 0.1 + 0.1 + 0.1 is above 0.3, by the last digit
        ledger.charge(LaplaceEvent(0.1, 1.0))


def test_only_gaussian_releases_of_all_rows_fit_a_gaussian_filter() -> None:
    ledger = Ledger(CAP, method="gdp")
    assert ledger.cost(GaussianEvent(1.0, 2.0)) == pytest.approx(1 / 8)
    assert ledger.cost(LaplaceEvent(1e-9, 1.0)) == math.inf
    assert ledger.cost(SubsampledEvent(LaplaceEvent(1.0, 1.0), 0.1)) == math.inf


@pytest.mark.parametrize(
    "options",
    [{"method": "rdp"}, {"method": "zcdp", "renyi_order": 3.0}, {"method": "renyi"}],
)
def test_a_filter_is_named_whole(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="method must be"):
        Ledger(CAP, **options)


def test_a_refusal_says_what_was_asked_and_what_was_left() -> None:
    ledger = Ledger(Guarantee(1.0, 1e-6))
    ledger.charge(LaplaceEvent(0.75, 1.0))
    with pytest.raises(BudgetExhausted, match=r"would cost 0\.5 of the 0\.25 left"):
        ledger.charge(LaplaceEvent(0.5, 1.0))
