"""Sum a ledger's charges independently of the engine, to check it.

The table of mechanisms gives the cost of a single event.
"""

from __future__ import annotations

import math

from dp_accounting.rdp import compute_epsilon
from scipy.optimize import brentq
from scipy.stats import norm

from engine.privacy import events as e
from engine.privacy.accounting import Guarantee
from engine.privacy.ledger import Ledger
from tests.privacy.mechanisms_table import delta_of, epsilon_of, renyi_of, rho_of


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
        epsilon, delta = gaussian_epsilon(mu, inner_delta), ledger.cap.delta
    else:
        assert ledger.renyi_order is not None
        cost = math.fsum(renyi_of(event, ledger.renyi_order) for event in events)
        epsilon = float(compute_epsilon([ledger.renyi_order], [cost], inner_delta)[0])
        delta = ledger.cap.delta
    if ledger.rate < 1:  # Balle, Barthe and Gaboardi 2018, Theorem 9
        shrunk = math.log1p(ledger.rate * math.expm1(min(epsilon, 300)))
        epsilon = shrunk if epsilon <= 300 else epsilon + math.log(ledger.rate)
    return Guarantee(epsilon, delta)


def gaussian_epsilon(mu: float, delta: float) -> float:
    """Where the curve of Gaussian DP (Dong, Roth and Su 2022, Corollary 2.13) meets delta."""

    def above(epsilon: float) -> float:
        tail = norm.sf(epsilon / mu - mu / 2)
        return float(tail - math.exp(epsilon + norm.logsf(epsilon / mu + mu / 2)) - delta)

    return float(brentq(above, 0.0, mu**2 + 10 * mu + 1, xtol=1e-13)) if above(0.0) > 0 else 0.0
