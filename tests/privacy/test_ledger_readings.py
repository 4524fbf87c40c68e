"""The readings of a ledger: every reading of a few charges, by hand, under every filter."""

import math

import pytest

from engine.privacy.accounting import Guarantee, mu_budget, rho_budget, rho_to_epsilon
from engine.privacy.events import GaussianEvent, LaplaceEvent, StableEvent, UndefendedEvent
from engine.privacy.ledger import BudgetExhausted, Ledger
from tests.privacy.mechanisms_table import renyi_of

CAP = Guarantee(4.0, 1e-6)
ORDER = 6.0


def paid(make=LaplaceEvent, **options):
    """Two charges of 0.3 and 0.5 at scale 1, of order 0 and 1, the second in iteration 5."""
    ledger = Ledger(CAP, **options)
    ledger.charge(make(0.3, 1.0), label="a", order=0)
    ledger.charge(make(0.5, 1.0), label="a", order=1, iteration=5)
    return ledger


@pytest.mark.parametrize(
    ("method", "make", "costs", "most", "defended"),
    [
        ("basic", LaplaceEvent, (0.3, 0.5), 4.0, Guarantee(4.0, 0.0)),  # no event adds to delta
        ("zcdp", LaplaceEvent, (0.045, 0.125), rho_budget(4.0, 1e-6), CAP),
        ("gdp", GaussianEvent, (0.045, 0.125), mu_budget(4.0, 1e-6) ** 2 / 2, CAP),
    ],
)
def test_a_ledger_reads_in_its_unit(method, make, costs, most, defended):
    """In epsilon, in rho, or in half of mu squared."""
    ledger, total, (first, second) = paid(make, method=method), sum(costs), costs
    assert ledger.used == pytest.approx(total)
    assert ledger.most == pytest.approx(most)
    assert ledger.limit == pytest.approx(most, rel=1e-11)
    assert ledger.limit < most
    assert ledger.remaining == pytest.approx(most - total)
    assert ledger.by_order() == {0: pytest.approx(first), 1: pytest.approx(second)}
    assert ledger.by_iteration() == {5: pytest.approx(second)}
    assert ledger.by_label() == {"a": pytest.approx(total)}
    assert ledger.proven == defended
    if method == "basic":
        assert ledger.used_epsilon == pytest.approx(total)
    else:  # what is exact for Gaussian noise lies below zCDP's conversion
        loose = rho_to_epsilon(total, 1e-6)
        assert (ledger.used_epsilon == pytest.approx(loose)) == (method == "zcdp")
        assert 0 < ledger.used_epsilon <= loose * (1 + 1e-9)
    line = ledger[1]
    assert line.rho == pytest.approx(0.125)
    assert line.cost == (0.5 if make is LaplaceEvent else line.rho)
    assert line.epsilon == (0.5 if make is LaplaceEvent else math.inf)
    other = {"gdp": math.inf, "zcdp": 5e-19, "basic": 1e-9}[method]
    assert ledger.cost(LaplaceEvent(1e-9, 1.0)) == pytest.approx(other)


def test_a_renyi_ledger_reads_at_its_order():
    ledger = paid(method="rdp", renyi_order=ORDER)
    cost = sum(renyi_of(LaplaceEvent(e, 1.0), ORDER) for e in (0.3, 0.5))
    # Canonne, Kamath and Steinke 2020, Proposition 12
    shift = math.log(1 - 1 / ORDER) - (math.log(1e-6) + math.log(ORDER)) / (ORDER - 1)
    assert ledger.used == pytest.approx(cost)
    assert ledger.by_label() == {"a": pytest.approx(cost)}
    assert ledger.most == pytest.approx(4.0 - shift)
    assert ledger.used_epsilon == pytest.approx(cost + shift)
    assert Ledger(CAP, method="rdp", renyi_order=ORDER).used_epsilon == 0


@pytest.mark.parametrize("method", ["basic", "zcdp", "gdp"])
def test_a_run_on_a_sample_may_cost_what_the_cap_says_of_all_rows(method):
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


def test_nothing_is_left_of_a_budget_that_is_spent():
    ledger = Ledger(Guarantee(1.0, 1e-6))
    ledger.charge(LaplaceEvent(1.0, 1.0))
    assert ledger.remaining == 0  # and not minus a hair
    with pytest.raises(BudgetExhausted):
        ledger.charge(LaplaceEvent(1e-300, 1.0))


def test_without_a_cap_there_is_no_limit():
    ledger = Ledger(delta=1e-5)
    assert ledger.most == ledger.limit == ledger.remaining == math.inf
    assert ledger.proven == Guarantee(0.0, 0.0)
    assert ledger.affords(UndefendedEvent("anything"))
    ledger.charge(LaplaceEvent(0.3, 1.0))
    assert ledger.proven == Guarantee(0.3, 0.0)  # cheaper than by rho
    assert ledger.used_epsilon == 0.3
    ledger.charge(StableEvent(0.1, 1e-7))
    assert ledger.proven == Guarantee(pytest.approx(0.4), pytest.approx(1e-7))
    for _ in range(300):
        ledger.charge(LaplaceEvent(0.1, 1.0))
    rho = 0.3**2 / 2 + 301 * 0.1**2 / 2
    by_rho = rho_to_epsilon(rho, 1e-5)
    assert ledger.proven == Guarantee(pytest.approx(by_rho), pytest.approx(1e-5 + 1e-7))
    assert ledger.used_epsilon == pytest.approx(by_rho)
    assert Ledger().delta == 0
    assert Ledger(Guarantee(1.0, 1e-4), delta=1e-2).delta == 1e-4


def test_what_is_void_stays_void():
    ledger = paid()
    ledger.void("the seed is known")
    ledger.void("and the schema was read")
    assert ledger.no_guarantee_reasons == ("the seed is known", "and the schema was read")
    assert ledger.proven == Guarantee(math.inf, 0.0)
    assert len(ledger) == 4
    assert ledger[2].label == "no guarantee"
    assert ledger[2].event == UndefendedEvent("the seed is known")
    assert ledger.used == pytest.approx(0.8)


def test_events_fit_together_or_not_at_all():
    ledger = Ledger(Guarantee(1.0, 1e-6))
    fits, odd = LaplaceEvent(0.4, 1.0), UndefendedEvent("no noise")
    third = StableEvent(1e-4, 0.4e-6)
    assert ledger.affords(third, third)
    assert not ledger.affords(third, third, third)  # their deltas do not fit
    assert not Ledger(ledger.cap, method="zcdp").affords(
        third
    )  # whose conversion takes delta whole
    assert ledger.affords()
    assert ledger.affords(fits, fits)
    assert not ledger.affords(fits, fits, fits)
    assert not ledger.affords(fits, odd)
    assert not ledger.affords(odd, fits)
    assert len(ledger) == 0


def test_sums_are_exact_down_to_the_smallest_float():
    ledger = Ledger(Guarantee(0.3, 0.0))
    for _ in range(2):
        ledger.charge(LaplaceEvent(0.1, 1.0))
    with pytest.raises(BudgetExhausted):  # 0.1 + 0.1 + 0.1 is above 0.3, by the last digit
        ledger.charge(LaplaceEvent(0.1, 1.0))


@pytest.mark.parametrize(
    "options", [{"method": "rdp"}, {"method": "zcdp", "renyi_order": 3.0}, {"method": "renyi"}]
)
def test_a_filter_is_named_whole(options):
    with pytest.raises(ValueError, match="method must be"):
        Ledger(CAP, **options)


def test_a_refusal_says_what_was_asked_and_what_was_left():
    ledger = Ledger(Guarantee(1.0, 1e-6))
    ledger.charge(LaplaceEvent(0.75, 1.0))
    with pytest.raises(BudgetExhausted, match=r"would cost 0\.5 of the 0\.25 left"):
        ledger.charge(LaplaceEvent(0.5, 1.0))
