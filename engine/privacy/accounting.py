"""Composition: how several epsilons add up (PRIVACY.md, section 4).

All functions take replace-one (or any one fixed) neighbouring relation and natural-log epsilons.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.optimize import brentq
from scipy.special import log_ndtr, ndtr

from engine.errors import InputError

METHODS = ("basic", "advanced", "curate", "zcdp", "pld")


def rho_budget(epsilon: float, delta: float) -> float:
    """Largest rho whose zCDP guarantee implies (epsilon, delta)-DP by Bun and Steinke 2016.

    Solves epsilon = rho + 2 sqrt(rho ln(1/delta)) for rho.
    """
    if math.isinf(epsilon):
        return math.inf
    log_term = math.log(1 / delta)
    # (sqrt(L + e) - sqrt(L))^2, written so that a small epsilon loses no digits
    return (epsilon / (math.sqrt(log_term + epsilon) + math.sqrt(log_term))) ** 2


def rho_to_epsilon(rho: float, delta: float) -> float:
    """The (epsilon, delta) guarantee of rho-zCDP: rho + 2 sqrt(rho ln(1/delta))."""
    if rho == 0 or math.isinf(rho):
        return rho
    return math.inf if delta <= 0 else rho + 2 * math.sqrt(rho * math.log(1 / delta))


def analytic_gaussian_sigma(epsilon: float, delta: float, sensitivity: float = 1.0) -> float:
    """Smallest sigma for which Gaussian noise is (epsilon, delta)-DP (Balle and Wang 2018)."""

    def excess(log_sigma: float) -> float:
        return gaussian_delta(epsilon, math.exp(log_sigma)) - delta

    return sensitivity * math.exp(brentq(excess, -20.0, 40.0, xtol=1e-14, rtol=1e-15))


def gaussian_delta(epsilon: float, sigma: float) -> float:
    """Exact delta at ``epsilon`` of Gaussian noise ``sigma`` on a value of sensitivity 1."""
    a, b = 1 / (2 * sigma), epsilon * sigma
    return float(ndtr(a - b) - math.exp(epsilon + log_ndtr(-a - b)))


def compose(epsilons: Sequence[float], delta: float, method: str = "zcdp") -> float:
    """Total epsilon of pure-DP steps at the given delta.

    Parameters: ``epsilons`` pure costs of the steps, in order; ``delta`` in (0, 1), of the total;
    ``method`` one of ``METHODS``:

    - "basic": the sum; holds for adaptive and data-dependent choices.
    - "advanced": Dwork, Rothblum, Vadhan 2010 for steps fixed in advance.
    - "curate": CURATE (2024) eq. for equal steps, t e^2 + e sqrt(2 t ln(1/delta)), here with the
      steps' own squares; steps fixed in advance.
    - "zcdp": Bun and Steinke 2016 with rho = e^2 / 2 a step.
    - "pld": numerical composition of the worst pure mechanism (randomised response) for each
      step, by ``dp-accounting``; steps fixed in advance.

    Raises InputError on a negative epsilon, a delta outside (0, 1) or an unknown method.
    """
    steps = np.asarray(list(epsilons), dtype=float)
    if np.any(np.isnan(steps)) or np.any(steps < 0):
        raise InputError("Every epsilon to compose must be a number of at least 0.")
    if not 0 < delta < 1:
        raise InputError(f"delta must lie strictly between 0 and 1; {delta} does not.")
    if method not in METHODS:
        raise InputError(f"method must be one of {', '.join(METHODS)}; {method!r} is not.")
    if steps.size == 0:
        return 0.0
    squares = float(np.sum(steps**2))
    if method == "basic":
        return float(np.sum(steps))
    if method == "advanced":
        linear = float(np.sum(steps * np.expm1(steps)))
        return math.sqrt(2 * math.log(1 / delta) * squares) + linear
    if method == "curate":
        return squares + math.sqrt(2 * math.log(1 / delta) * squares)
    if method == "zcdp":
        return rho_to_epsilon(squares / 2, delta)
    return _pld_total(steps, delta)


def compose_laplace(epsilon: float, count: int, delta: float) -> float:
    """Total epsilon of ``count`` Laplace mechanisms of ``epsilon`` each, by PLD."""
    from dp_accounting.pld import privacy_loss_distribution as pld

    one = pld.from_laplace_mechanism(1 / epsilon, value_discretization_interval=_interval(epsilon))
    return float(one.self_compose(count).get_epsilon_for_delta(delta))


def _interval(epsilon: float) -> float:
    """Discretisation of the privacy loss: fine beside the step, coarse enough to be quick."""
    return float(min(1e-3, epsilon / 100))


def _pld_total(steps: np.ndarray, delta: float) -> float:
    from dp_accounting.pld import common
    from dp_accounting.pld import privacy_loss_distribution as pld

    values, counts = np.unique(steps[steps > 0], return_counts=True)
    if values.size == 0:
        return 0.0
    interval = _interval(float(values.min()))
    total = None
    for value, count in zip(values, counts, strict=True):
        one = pld.from_privacy_parameters(
            common.DifferentialPrivacyParameters(float(value), 0.0),
            value_discretization_interval=interval,
        )
        many = one.self_compose(int(count))
        total = many if total is None else total.compose(many)
    assert total is not None
    return float(total.get_epsilon_for_delta(delta))
