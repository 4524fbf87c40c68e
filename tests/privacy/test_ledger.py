"""Events, ledger and accounting: properties that hold for every sequence of charges."""

import math
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.privacy import events
from engine.privacy.accounting import (
    Guarantee,
    analytic_gaussian_sigma,
    compose,
    gaussian_delta,
    mu_budget,
    mu_to_epsilon,
    rho_budget,
    rho_to_epsilon,
)
from engine.privacy.budget import shares
from engine.privacy.ledger import BudgetExhausted, Ledger
from tests.privacy import mechanisms_table
from tests.privacy.readd import total_of

charges = st.one_of(
    [cost.examples for cost in mechanisms_table.COSTS if cost is not mechanisms_table.UNDEFENDED]
)
deltas = st.sampled_from([1e-12, 1e-6, 1e-3])


# Events -------------------------------------------------------------------------------


@given(charges, st.floats(1.5, 40))
def test_costs_agree_with_an_independent_reading_of_the_fields(event, order):
    assert event.epsilon == pytest.approx(mechanisms_table.epsilon_of(event), rel=1e-12)
    assert event.rho == pytest.approx(mechanisms_table.rho_of(event), rel=1e-12)
    # one part of a billion, where the two differ in how the tails are subtracted
    assert event.delta == pytest.approx(mechanisms_table.delta_of(event), rel=1e-9, abs=1e-15)
    if not isinstance(
        event, events.SubsampledGaussianEvent
    ):  # test_events.py: it takes a planner's time
        assert events.renyi(event, order) == pytest.approx(
            mechanisms_table.renyi_of(event, order), rel=1e-12
        )


def test_exponential_rho_covers_its_renyi_divergence():
    """Neighbours' utilities anywhere within +-1: rho = epsilon^2 / 8 holds, and almost equals."""
    rng = np.random.default_rng(3)
    event = events.ExponentialEvent(1.0, 1.0, 0.8)
    worst = 0.0
    for _ in range(3000):
        u = rng.uniform(-3, 3, 4)
        v = u + rng.choice([-1.0, 1.0], 4)
        p, q = (np.exp(0.8 * w / 2) / np.sum(np.exp(0.8 * w / 2)) for w in (u, v))
        order = rng.uniform(1.01, 6)
        divergence = math.log(np.sum(p**order * q ** (1 - order))) / (order - 1)
        assert divergence <= event.rho * order * (1 + 1e-9)
        worst = max(worst, divergence / (event.rho * order))
    assert worst > 0.9


# Accounting ---------------------------------------------------------------------------


@given(st.lists(st.floats(0, 3), max_size=12), deltas)
def test_compositions_are_their_closed_forms(steps, delta):
    """Sums; with S the sum of squares and L = ln(1/delta) the three forms of the sources."""
    squares, log = math.fsum(e * e for e in steps), math.log(1 / delta)
    linear = math.fsum(e * math.expm1(e) for e in steps)
    for method, wanted in (
        ("basic", math.fsum(steps)),
        ("advanced", math.sqrt(2 * log * squares) + linear),
        ("curate", squares + math.sqrt(2 * log * squares)),
        ("zcdp", squares / 2 + 2 * math.sqrt(squares / 2 * log)),
    ):
        assert compose(steps, delta, method) == pytest.approx(wanted, rel=1e-9)
    assert compose(steps, delta) == compose(steps, delta, "zcdp")


@given(st.floats(1e-6, 1e4), deltas)
def test_rho_budget_is_the_inverse(epsilon, delta):
    rho = rho_budget(epsilon, delta)
    assert rho_to_epsilon(rho, delta) == pytest.approx(epsilon, rel=1e-9)


@given(st.floats(0.05, 3), deltas)
def test_zcdp_conversion_covers_the_exact_gaussian(rho, delta):
    epsilon = rho_to_epsilon(rho, delta)
    assert gaussian_delta(epsilon, 1 / math.sqrt(2 * rho)) <= delta


# Ledger -------------------------------------------------------------------------------


@given(
    st.lists(charges, max_size=12),
    st.floats(0.01, 50),
    st.sampled_from(["basic", "zcdp", "gdp", "rdp"]),
    st.sampled_from([1.0, 0.2]),
)
def test_whatever_is_charged_the_cap_holds(charges, cap, method, rate):
    """Events at random, then whatever still fits, down to nothing."""
    order = 8.0 if method == "rdp" else None
    ledger = Ledger(Guarantee(cap, 1e-6), method=method, renyi_order=order, rate=rate)
    last = events.LaplaceEvent if method == "basic" else events.GaussianEvent
    kept = []
    for event in [*charges, *(last(64.0 / 2**k, 1.0) for k in range(20) for _ in range(4))]:
        before = (len(ledger), ledger.used)
        try:
            ledger.charge(event)
            kept.append(event)
        except BudgetExhausted:
            assert (len(ledger), ledger.used) == before
    assert [c.event for c in ledger] == kept
    total = total_of(ledger)
    assert total.epsilon <= cap * (1 + 1e-8)
    assert total.delta <= 1e-6 * (1 + 1e-9)
    # Elsewhere the cap's own delta is the method's.
    assert method == "basic" or all(mechanisms_table.delta_of(event) == 0 for event in kept)
    assert ledger.used_epsilon <= cap * (1 + 1e-8)
    assert ledger.proven.epsilon in (0, cap)


@dataclass(frozen=True)
class Odd:
    """An event that lies about, or cannot tell, what it costs."""

    epsilon: float
    rho: float
    delta: float = 0.0

    def describe(self):
        return "odd"


@pytest.mark.parametrize("method", ["basic", "zcdp"])
@pytest.mark.parametrize(
    "event",
    [
        Odd(math.nan, math.nan),
        Odd(math.inf, math.inf),
        Odd(-1.0, -1.0),
        Odd(0.1, 0.001, 1e-3),
        Odd(0.1, 0.001, -1e-3),
        events.UndefendedEvent("no noise"),
    ],
)
def test_odd_events_are_refused_under_a_cap(event, method):
    ledger = Ledger(Guarantee(10.0, 1e-6), method=method)
    with pytest.raises(BudgetExhausted):
        ledger.charge(event)
    assert len(ledger) == 0


@pytest.mark.parametrize("count", [1, 7, 10, 49, 1000])
@pytest.mark.parametrize("total", [Guarantee(1.0, 1e-6), Guarantee(0.1, 0.0), Guarantee(30, 1e-9)])
def test_equal_shares_fit_exactly(total, count):
    """Rounding neither costs the last share nor lets one more in."""
    method, each = shares(total, count)
    ledger = Ledger(total, method=method)
    for _ in range(count):
        ledger.charge(events.LaplaceEvent(each, 1.0))
    with pytest.raises(BudgetExhausted):
        ledger.charge(events.LaplaceEvent(each * 1e-3, 1.0))


def analytic(rng, delta):
    """A Gaussian release of the given delta at an epsilon of 1e-5 to 1e-3."""
    epsilon = float(10 ** rng.uniform(-5, -3))
    return events.AnalyticGaussianEvent(1.0, analytic_gaussian_sigma(epsilon, delta), epsilon)


# Each picks its next event from the share of delta that it wants to spend on it, and nearly no
# epsilon, so that delta is what runs out.
SPENDING_DELTA = {
    "smooth sensitivity": lambda rng, delta: events.SmoothEvent(1e-4, delta),
    "a release if stable": lambda rng, delta: events.StableEvent(1e-4, delta),
    "propose, test, release": lambda rng, delta: events.ProposeTestReleaseEvent(1e-4, delta, 2),
    "Gaussian with its curve's delta": analytic,
    "random mixtures": lambda rng, delta: [
        events.SmoothEvent(1e-4, delta),
        events.StableEvent(1e-4, delta),
        events.ProposeTestReleaseEvent(1e-4, delta, 3),
        events.LaplaceEvent(1e-4, 1.0),
    ][rng.integers(4)],
}


@pytest.mark.parametrize("rate", [1.0, 0.2])
@pytest.mark.parametrize("name", SPENDING_DELTA)
def test_adaptive_adversaries_cannot_overspend_delta(name, rate):
    """Every event fits by itself, and its epsilon is nothing: only what delta adds up to is not."""
    cap, largest, refused = Guarantee(1.0, 1e-6), 0.0, 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        ledger = Ledger(cap, rate=rate)
        for _ in range(20):
            try:
                ledger.charge(SPENDING_DELTA[name](rng, float(rng.uniform(0.05, 0.6)) * cap.delta))
            except BudgetExhausted:
                refused += 1
        total = math.fsum(mechanisms_table.delta_of(c.event) for c in ledger)
        assert total <= cap.delta * (1 + 1e-9)
        assert ledger.proven.delta == cap.delta
        largest = max(largest, total / cap.delta)
    assert largest > 0.9  # the attempts are real
    assert refused > 100


# Gaussian DP --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("epsilon", "delta", "sigma"),
    [(1, 1e-5, 3.730632), (0.1, 1e-6, 36.304690), (5, 1e-3, 0.689842)],
)
def test_gdp_affords_the_analytic_gaussian_and_no_more(epsilon, delta, sigma):
    """The sigmas of known-answers.md spend the whole budget, whole or in three parts; no more."""
    ledger = Ledger(Guarantee(epsilon, delta), method="gdp")
    for share in (0.5, 0.3, 0.2):
        ledger.charge(events.GaussianEvent(1.0, 1.000001 * sigma / math.sqrt(share)))
    assert total_of(ledger).epsilon == pytest.approx(epsilon, rel=1e-4)
    assert ledger.used_epsilon == pytest.approx(epsilon, rel=1e-4)
    with pytest.raises(BudgetExhausted):
        ledger.charge(events.GaussianEvent(1.0, 100 * sigma))


@given(st.floats(0.001, 20), deltas)
def test_gdp_never_admits_less_than_zcdp(epsilon, delta):
    assert mu_budget(epsilon, delta) ** 2 / 2 >= rho_budget(epsilon, delta)
    assert mu_to_epsilon(mu_budget(epsilon, delta), delta) == pytest.approx(epsilon, rel=1e-6)
