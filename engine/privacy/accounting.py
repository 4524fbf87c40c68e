"""Composition: the total of several epsilons (research/theory/privacy.md, "The ledger").

All functions use the replace-one relation (or any other fixed one) and natural-log epsilons.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr, ndtr

from engine.errors import InputError

COMPOSITIONS = ("basic", "advanced", "curate", "zcdp", "pld")


@dataclass(frozen=True)
class Guarantee:
    """An (epsilon, delta) statement; epsilon is ``inf`` if there is no guarantee.

    Examples:
        >>> from engine import load_dataset, run
        >>> run("priv_pc", load_dataset("cancer", n=1_000), epsilon=0.5, seed=0).proven
        Guarantee(epsilon=0.5, delta=1e-06)
    """

    epsilon: float
    delta: float


def rho_budget(epsilon: float, delta: float) -> float:
    """Return the largest rho whose zCDP implies (epsilon, delta)-DP by Bun and Steinke 2016.

    Solves epsilon = rho + 2 sqrt(rho ln(1/delta)) for rho.

    Args:
        epsilon: Total epsilon; inf allows every charge.
        delta: Total delta, in (0, 1).

    Examples:
        >>> round(rho_budget(1.0, 1e-6), 8)
        0.0174689
    """
    if math.isinf(epsilon):
        return math.inf
    log_term = math.log(1 / delta)
    # (sqrt(L + e) - sqrt(L))^2, written so that a small epsilon loses no digits
    return (epsilon / (math.sqrt(log_term + epsilon) + math.sqrt(log_term))) ** 2


def rho_to_epsilon(rho: float, delta: float) -> float:
    """Convert rho-zCDP to the epsilon at delta: rho + 2 sqrt(rho ln(1/delta)).

    Args:
        rho: Zero-concentrated cost.
        delta: Total delta; at 0 only rho = 0 has a finite epsilon.

    Examples:
        >>> round(rho_to_epsilon(rho_budget(1.0, 1e-6), 1e-6), 6)
        1.0
    """
    if rho == 0 or math.isinf(rho):
        return rho
    return math.inf if delta <= 0 else rho + 2 * math.sqrt(rho * math.log(1 / delta))


def renyi_to_epsilon(cost: float, renyi_order: float, delta: float) -> float:
    """Convert a Renyi cost at one order above 1 to the epsilon at delta.

    The formula is Canonne, Kamath and Steinke 2020, Proposition 12: cost + ln(1 - 1/order) - (ln
    delta + ln order) / (order - 1).
    """
    return (
        cost
        + math.log1p(-1 / renyi_order)
        - (math.log(delta) + math.log(renyi_order)) / (renyi_order - 1)
    )


def analytic_gaussian_sigma(epsilon: float, delta: float, sensitivity: float = 1.0) -> float:
    """Return the least sigma whose Gaussian noise is (epsilon, delta)-DP (Balle and Wang 2018).

    Args:
        epsilon: Epsilon for the release, above 0.
        delta: Delta for the release, in (0, 1).
        sensitivity: The l2 sensitivity; sigma has its unit.

    Examples:
        >>> round(analytic_gaussian_sigma(1.0, 1e-5), 6)
        3.730632
    """
    return sensitivity * _unit_sigma(epsilon, delta)


@lru_cache(maxsize=4096)  # a plan repeats the same few values, and each takes a search
def _unit_sigma(epsilon: float, delta: float) -> float:
    from scipy.optimize import brentq  # slow to import, and few runs need it

    def excess(log_sigma: float) -> float:
        return gaussian_delta(epsilon, math.exp(log_sigma)) - delta

    return math.exp(brentq(excess, -20.0, 40.0, xtol=1e-14, rtol=1e-15))


def mu_budget(epsilon: float, delta: float) -> float:
    """Return the largest mu whose Gaussian DP (Dong, Roth, Su 2022) implies (epsilon, delta)-DP."""
    return math.inf if math.isinf(epsilon) else 1 / analytic_gaussian_sigma(epsilon, delta)


@lru_cache(maxsize=4096)  # every step of a trace needs it, usually for no charge
def mu_to_epsilon(mu: float, delta: float) -> float:
    """Convert mu-Gaussian DP to the epsilon at ``delta``: the curve of Balle and Wang 2018."""
    from scipy.optimize import brentq  # slow to import, and few runs need it

    if mu == 0 or math.isinf(mu):
        return mu
    if gaussian_delta(0.0, 1 / mu) <= delta:
        return 0.0
    highest = mu**2 / 2 + mu * math.sqrt(2 * math.log(1 / delta))  # zCDP's bound
    return float(brentq(lambda e: gaussian_delta(e, 1 / mu) - delta, 0.0, highest, xtol=1e-12))


# Share of the larger term: below it, the difference keeps fewer than eleven digits. Far in the tail
# the rounding error of the terms grows with their exponents, (a - b)^2 / 2, and so does the limit.
_CANCELLED, _TAIL = 1e-4, 8.0


def gaussian_delta(epsilon: float, sigma: float) -> float:
    """Return the exact delta at ``epsilon`` of Gaussian noise ``sigma`` for sensitivity 1.

    The formula is Balle and Wang 2018, Theorem 8, to ten digits. If its two terms nearly cancel (a
    tiny epsilon and delta; at 1e-6 and 1e-15 seven digits are lost), an integral is used: the
    derivative of delta by mu = 1/sigma is phi(mu/2 - epsilon/mu), which is never negative.
    """
    a, b = 1 / (2 * sigma), epsilon * sigma
    larger = float(ndtr(a - b))
    delta = larger - math.exp(epsilon + log_ndtr(-a - b))
    if delta > _CANCELLED * max(1.0, (a - b) ** 2 / _TAIL) * larger or not 0 < larger < 1:
        return delta
    from scipy.integrate import quad  # slow to import, and few runs need it

    def slope(mu: float) -> float:
        return math.exp(-((mu / 2 - epsilon / mu) ** 2) / 2) / math.sqrt(2 * math.pi)

    # Most of the integral lies within a few steps of mu / b^2 below the upper end.
    mu = 1 / sigma
    cuts = [mu * (1 - min(0.9, k / (1 + b * b))) for k in (40.0, 5.0)]
    return float(quad(slope, 0.0, mu, points=cuts, epsabs=0, epsrel=1e-12, limit=200)[0])


def compose(epsilons: Sequence[float], delta: float, method: str = "zcdp") -> float:
    """Return the total epsilon of pure-DP steps at the given delta.

    All methods except "pld" are valid for any pure step. "pld" is for steps that release a number
    with Laplace noise, not for above-threshold or exponential steps (:func:`compose_any_pure`).

    - "basic": the sum, valid for adaptive and data-dependent choices.
    - "advanced": Dwork, Rothblum, Vadhan 2010, for steps fixed in advance.
    - "curate": CURATE (2024) eq. for equal steps, t e^2 + e sqrt(2 t ln(1/delta)), here with the
      squares of the actual steps, for steps fixed in advance.
    - "zcdp": Bun and Steinke 2016, with rho = e^2 / 2 per step.
    - "pld": numerical composition of Laplace mechanisms by ``dp-accounting``, a tight upper bound,
      for steps fixed in advance.

    Args:
        epsilons: Pure costs of the steps, in order, in nats (natural logarithms).
        delta: Total delta, in (0, 1).
        method: One of ``COMPOSITIONS``.

    Raises:
        InputError: If an epsilon is negative, delta is outside (0, 1) or the method is unknown.

    Examples:
        >>> steps = [0.1] * 100
        >>> [round(compose(steps, 1e-6, method), 4) for method in ("basic", "zcdp", "pld")]
        [10.0, 5.7565, 4.6927]
    """
    steps = np.asarray(list(epsilons), dtype=float)
    if np.any(np.isnan(steps)) or np.any(steps < 0):
        raise InputError("Every epsilon to compose must be a number of at least 0.")
    if not 0 < delta < 1:
        raise InputError(f"delta must lie strictly between 0 and 1; {delta} does not.")
    if method not in COMPOSITIONS:
        raise InputError(f"method must be one of {', '.join(COMPOSITIONS)}; {method!r} is not.")
    if steps.size == 0:
        return 0.0
    squares = float(np.sum(steps**2))
    if method == "basic":
        return float(np.sum(steps))
    if method == "advanced":
        with np.errstate(over="ignore"):  # inf is the correct answer
            linear = float(np.sum(steps * np.expm1(steps)))
        return math.sqrt(2 * math.log(1 / delta) * squares) + linear
    if method == "curate":
        return squares + math.sqrt(2 * math.log(1 / delta) * squares)
    if method == "zcdp":
        return rho_to_epsilon(squares / 2, delta)
    return _pld_total(steps, delta, _laplace_losses)


def compose_any_pure(epsilons: Sequence[float], delta: float) -> float:
    """Return the total epsilon by PLD of pure steps fixed in advance, for any mechanisms.

    The function composes the worst pure mechanism, randomised response (Kairouz, Oh, Viswanath
    2015), so its result is slightly above ``compose(..., "pld")``.

    Args:
        epsilons: Pure costs of the steps.
        delta: Total delta, in (0, 1).

    Raises:
        InputError: If an epsilon is negative or delta is outside (0, 1).

    Examples:
        >>> round(compose_any_pure([0.1] * 100, 1e-6), 4)
        4.7746
    """
    compose(epsilons, delta, "basic")  # checks both arguments
    return _pld_total(np.asarray(list(epsilons), dtype=float), delta, _worst_losses)


def _interval(smallest: float, largest: float) -> float:
    """Return the grid of the privacy loss, fine relative to the steps but limited in memory.

    A grid that is too coarse only loosens the bound, because losses are rounded up.
    """
    return max(min(1e-3, smallest / 100), largest / 1e4)


def _laplace_losses(epsilon: float, interval: float) -> Any:
    from dp_accounting.pld import privacy_loss_distribution as pld

    return pld.from_laplace_mechanism(1 / epsilon, value_discretization_interval=interval)


def _worst_losses(epsilon: float, interval: float) -> Any:
    from dp_accounting.pld import common
    from dp_accounting.pld import privacy_loss_distribution as pld

    step = common.DifferentialPrivacyParameters(epsilon, 0.0)
    return pld.from_privacy_parameters(step, value_discretization_interval=interval)


def _pld_total(
    steps: NDArray[np.float64], delta: float, losses: Callable[[float, float], Any]
) -> float:
    """Compose ``losses(epsilon, interval)`` of every step above 0."""
    values, counts = np.unique(steps[steps > 0], return_counts=True)
    if values.size == 0:
        return 0.0
    if values[-1] > 500:  # e^epsilon overflows; composition has no advantage over the sum
        return float(np.sum(steps))
    interval = _interval(float(values[0]), float(values[-1]))
    parts = [
        losses(float(value), interval).self_compose(int(count))
        for value, count in zip(values, counts, strict=True)
    ]
    total = reduce(lambda a, b: a.compose(b), parts)
    # The grid rounds losses up, and the sum of the epsilons is always a bound.
    return min(float(total.get_epsilon_for_delta(delta)), float(np.sum(steps)))


def advanced_total(steps: int, epsilon: float, delta: float) -> Guarantee:
    """Return advanced composition as in the papers: sqrt(2 k ln(1/delta)) e + k e (e^e - 1)."""
    if steps == 0:
        return Guarantee(0.0, 0.0)
    if epsilon > 500:  # e^epsilon overflows
        return Guarantee(math.inf, delta)
    root = math.sqrt(2 * steps * math.log(1 / delta)) * epsilon
    return Guarantee(root + steps * epsilon * math.expm1(epsilon), delta)


def unsampled(total: Guarantee, rate: float) -> Guarantee:
    """Return the cost on a sample with share ``rate`` that amounts to ``total`` on all rows."""
    if rate >= 1:
        return total
    delta = sampled_delta(total.delta, rate)
    if total.epsilon > 500:  # e^epsilon overflows; the rate is then only a shift
        return Guarantee(total.epsilon - math.log(rate), delta)
    return Guarantee(math.log1p(math.expm1(total.epsilon) / rate), delta)


def sampled_delta(delta: float, rate: float) -> float:
    """Return the delta of a run on a sample with share ``rate`` that gives ``delta`` on all rows.

    It is at most a half, because a delta of 1 or more would mean nothing.
    """
    return min(delta / rate, 0.5)


def sampled_epsilon(epsilon: float, rate: float) -> float:
    """Return the epsilon on all rows of a run that costs ``epsilon`` on a sample of ``rate``."""
    if rate >= 1:
        return epsilon
    if epsilon > 500:
        return max(0.0, epsilon + math.log(rate))
    return math.log1p(rate * math.expm1(epsilon))
