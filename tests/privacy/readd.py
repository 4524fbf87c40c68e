"""The cost of an event from its fields alone: written apart from the engine, to check it."""

from __future__ import annotations

import math
from functools import cache

from dp_accounting.dp_event import GaussianDpEvent, SampledWithoutReplacementDpEvent
from dp_accounting.privacy_accountant import NeighboringRelation
from dp_accounting.rdp import RdpAccountant, compute_epsilon
from scipy.optimize import brentq
from scipy.stats import norm

from engine.privacy import events as e
from engine.privacy.accounting import Guarantee
from engine.privacy.ledger import Ledger


def epsilon_of(event: e.Event) -> float:
    """Pure epsilon, inf where there is none."""
    match event:
        case e.LaplaceEvent(sensitivity, scale):
            return sensitivity / scale if sensitivity else 0.0
        case e.AboveThresholdEvent(sensitivity, threshold, query):
            return sensitivity / threshold + 2 * sensitivity / query if sensitivity else 0.0
        case e.ExponentialEvent(sensitivity, stated, epsilon):
            return epsilon * sensitivity / stated
        case e.SubsampledEvent(inner, rate):
            cost = epsilon_of(inner)
            if cost > 100:  # e^-100 is below rounding
                return cost + math.log(rate)
            return (
                math.log(1 + rate * (math.exp(cost) - 1))
                if cost > 1e-4
                else (math.log1p(rate * math.expm1(cost)))
            )
        case e.GaussianEvent():
            return math.inf if event.sensitivity else 0.0
        case e.SmoothEvent():
            return event.epsilon
        case e.AnalyticGaussianEvent():
            return event.stated_epsilon if event.sensitivity else 0.0
        case e.UndefendedEvent():
            return math.inf
    raise AssertionError(f"the suite does not know {type(event).__name__}: teach it its cost")


def rho_of(event: e.Event) -> float:
    """Zero-concentrated cost."""
    match event:
        case e.GaussianEvent() | e.AnalyticGaussianEvent():
            return event.sensitivity**2 / (2 * event.sigma**2)
        case e.ExponentialEvent():
            # of bounded range epsilon
            return min(epsilon_of(event) ** 2 / 8, epsilon_of(event))
        case e.UndefendedEvent():
            return math.inf
    cost = epsilon_of(event)
    return min(cost, cost * cost / 2)


def delta_of(event: e.Event) -> float:
    """What the event adds to the failure probability by itself."""
    match event:
        case e.SmoothEvent():
            return min(1.0, event.slack * (1 + math.exp(min(event.epsilon, 1400) / 2)) / 2)
        case e.AnalyticGaussianEvent(sensitivity, sigma, epsilon) if sensitivity:
            # Balle and Wang 2018, Theorem 8
            a, b = sensitivity / (2 * sigma), epsilon * sigma / sensitivity
            return float(norm.sf(b - a) - math.exp(epsilon + norm.logsf(a + b)))
        case e.SubsampledEvent(inner, rate):
            return rate * delta_of(inner)
    return 0.0


def total_of(ledger: Ledger) -> Guarantee:
    """The ledger's charges added up from their fields by its method, as an (epsilon, delta)."""
    assert ledger.cap is not None
    events = [charge.event for charge in ledger]
    inner_delta = min(ledger.cap.delta / ledger.rate, 0.5) if ledger.rate < 1 else ledger.cap.delta
    own_delta = math.fsum(map(delta_of, events)) * ledger.rate
    if not events:
        return Guarantee(0.0, 0.0)
    if ledger.method == "basic":
        epsilon, delta = math.fsum(map(epsilon_of, events)), own_delta
    elif ledger.method == "zcdp":
        rho = math.fsum(map(rho_of, events))
        epsilon, delta = rho + 2 * math.sqrt(rho * math.log(1 / inner_delta)), ledger.cap.delta
    elif ledger.method == "gdp":
        assert all(type(event) is e.GaussianEvent for event in events)
        mu = math.sqrt(math.fsum((v.sensitivity / v.sigma) ** 2 for v in events))  # type: ignore[union-attr]
        epsilon, delta = _gaussian_epsilon(mu, inner_delta), ledger.cap.delta
    else:
        assert ledger.renyi_order is not None
        cost = math.fsum(_renyi_of(event, ledger.renyi_order) for event in events)
        epsilon = float(compute_epsilon([ledger.renyi_order], [cost], inner_delta)[0])
        delta = ledger.cap.delta
    if ledger.rate < 1:  # Balle, Barthe and Gaboardi 2018, Theorem 9
        shrunk = math.log1p(ledger.rate * math.expm1(min(epsilon, 300)))
        epsilon = shrunk if epsilon <= 300 else epsilon + math.log(ledger.rate)
    return Guarantee(epsilon, delta)


def _gaussian_epsilon(mu: float, delta: float) -> float:
    """Where the curve of Gaussian DP (Dong, Roth and Su 2022, Corollary 2.13) meets delta."""

    def above(epsilon: float) -> float:
        tail = norm.sf(epsilon / mu - mu / 2)
        return float(tail - math.exp(epsilon + norm.logsf(epsilon / mu + mu / 2)) - delta)

    return float(brentq(above, 0.0, mu**2 + 10 * mu + 1)) if above(0.0) > 0 else 0.0


def _renyi_of(event: e.Event, order: float) -> float:
    match event:
        case e.SubsampledGaussianEvent(sensitivity, sigma, rate):
            multiplier = sigma / sensitivity if sensitivity else math.inf
            return min(_sampled_gaussian(multiplier, rate, order), order * rho_of(event))
        case e.GaussianEvent():
            return order * rho_of(event)
    return min(epsilon_of(event), order * rho_of(event))


@cache
def _sampled_gaussian(multiplier: float, rate: float, order: float) -> float:
    accountant = RdpAccountant([order], NeighboringRelation.REPLACE_ONE)
    size = 10**9
    accountant.compose(
        SampledWithoutReplacementDpEvent(size, math.ceil(rate * size), GaussianDpEvent(multiplier))
    )
    return float(accountant.rdp[0])
