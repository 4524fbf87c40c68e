"""Every mechanism with all that the tests need to know of it: a new one is one entry here.

From this table come the tests of noise scales and of charges before draws (test_mechanisms.py),
the costs that the ledger's are compared with (readd.py), the random events of the ledger's
properties (test_ledger.py) and the rule that spends through every mechanism in turn
(contract/test_adversarial.py). Costs are written apart from the engine, to check it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import mpmath
import numpy as np
import pytest
from dp_accounting.dp_event import GaussianDpEvent, SampledWithoutReplacementDpEvent
from dp_accounting.privacy_accountant import NeighboringRelation
from dp_accounting.rdp import RdpAccountant
from hypothesis import strategies as st
from scipy.stats import binomtest, chi2, kstest, laplace, norm

from engine.context import RunContext
from engine.privacy import events as e
from engine.privacy import mechanisms

DRAWS = 8_000  # the weakest check misses a scale 30 % off with probability 3e-6
ALPHA = 1e-6


def from_epsilon(event: e.Event) -> float:
    """Zero-concentrated cost of a pure epsilon, or of one that fails with probability delta."""
    epsilon = epsilon_of(event)
    return min(epsilon, epsilon * epsilon / 2)


def from_rho(event: e.Event, order: float) -> float:
    """Renyi cost of whatever costs nothing more than its rho and its epsilon."""
    return min(epsilon_of(event), order * rho_of(event))


def nothing(event: e.Event) -> float:
    return 0.0


@dataclass(frozen=True)
class Cost:
    """What an event costs, from its fields alone; ``examples`` are random ones."""

    event: type[Any]
    examples: st.SearchStrategy[Any]
    epsilon: Callable[[Any], float]  # pure; inf where there is none
    rho: Callable[[Any], float] = from_epsilon
    delta: Callable[[Any], float] = nothing  # what it adds to the failure probability by itself
    renyi: Callable[[Any, float], float] = from_rho


@dataclass(frozen=True)
class Mechanism:
    """``release(session, value, size)`` answers with a number and charges about ``size``.

    ``sampled`` does so on a sample of the rows, where the mechanism can. ``fits`` says whether
    draws through a session follow the distribution of the mechanism's source. ``charges`` are the
    costs of all events it may charge.
    """

    name: str
    release: Callable[[RunContext, float, float], float]
    fits: Callable[[RunContext], bool]
    charges: tuple[Cost, ...]
    sampled: Callable[[RunContext, float, float], float] | None = None

    def releases(self) -> list[Callable[[RunContext, float, float], float]]:
        return [self.release] if self.sampled is None else [self.release, self.sampled]


def epsilon_of(event: e.Event) -> float:
    """Pure epsilon, inf where there is none."""
    return cost_of(event).epsilon(event)


def rho_of(event: e.Event) -> float:
    """Zero-concentrated cost."""
    return cost_of(event).rho(event)


def delta_of(event: e.Event) -> float:
    """What the event adds to the failure probability by itself."""
    return cost_of(event).delta(event)


def renyi_of(event: e.Event, order: float) -> float:
    """Renyi cost at an order above 1."""
    return cost_of(event).renyi(event, order)


def cost_of(event: e.Event) -> Cost:
    """The event's entry, by its exact class."""
    for cost in COSTS:
        if cost.event is type(event):
            return cost
    raise AssertionError(f"the table does not know {type(event).__name__}: teach it its cost")


def follows(draws: Any, cdf: Callable[..., Any]) -> bool:
    return bool(kstest(np.ravel(draws), cdf).pvalue > ALPHA)


# Laplace ------------------------------------------------------------------------------

scales = st.floats(0.01, 100)
small = st.floats(1e-12, 1e-3)


def laplace_fits(s: RunContext) -> bool:
    draws = [mechanisms.laplace(s, 3.0, sensitivity=1, scale=0.4) for _ in range(DRAWS)]
    return follows(draws, laplace(3.0, 0.4).cdf)


LAPLACE = Mechanism(
    "laplace",
    lambda s, value, size: mechanisms.laplace(s, value, sensitivity=size, scale=1),
    laplace_fits,
    (
        Cost(
            e.LaplaceEvent,
            st.builds(e.LaplaceEvent, scales, scales),
            lambda v: v.sensitivity / v.scale if v.sensitivity else 0.0,
        ),
    ),
)


def smooth_laplace_fits(s: RunContext) -> bool:
    draws = [
        mechanisms.smooth_laplace(s, 1.0, smooth_sensitivity=0.3, epsilon=0.5, slack=1e-6)
        for _ in range(DRAWS)
    ]
    return follows(draws, laplace(1.0, 2 * 0.3 / 0.5).cdf)


SMOOTH_LAPLACE = Mechanism(
    "smooth_laplace",
    lambda s, value, size: mechanisms.smooth_laplace(
        s, value, smooth_sensitivity=1, epsilon=size, slack=1e-9
    ),
    smooth_laplace_fits,
    (
        Cost(
            e.SmoothEvent,
            st.builds(e.SmoothEvent, scales, small),
            lambda v: v.epsilon,
            delta=lambda v: min(1.0, v.slack * (1 + math.exp(min(v.epsilon, 1400) / 2)) / 2),
        ),
    ),
)


# Gaussian -----------------------------------------------------------------------------


def gaussian_fits(s: RunContext) -> bool:
    exact = np.arange(DRAWS, dtype=float)
    noisy = mechanisms.gaussian(s, exact, sensitivity=1, sigma=2.5)
    sampled = mechanisms.gaussian(s, exact, sensitivity=1, sigma=0.8, rate=0.1)
    return follows(noisy - exact, norm(0, 2.5).cdf) and follows(sampled - exact, norm(0, 0.8).cdf)


def analytic_gaussian_fits(s: RunContext) -> bool:
    """sigma = 3.730632 at (1, 1e-5) for sensitivity 1 (known-answers.md), here for 2."""
    exact = np.arange(DRAWS, dtype=float)
    noisy, sigma = mechanisms.analytic_gaussian(s, exact, sensitivity=2.0, epsilon=1.0, delta=1e-5)
    assert sigma == pytest.approx(2 * 3.730632, rel=1e-6)
    return follows(noisy - exact, norm(0, 2 * 3.730632).cdf)


def no_pure_epsilon(event: Any) -> float:
    return math.inf if event.sensitivity else 0.0


def gaussian_rho(event: Any) -> float:
    return float(event.sensitivity**2 / (2 * event.sigma**2))


def gaussian_curve(event: Any) -> float:
    """Balle and Wang 2018, Theorem 8."""
    if not event.sensitivity:
        return 0.0
    with mpmath.workdps(60):  # the two terms may agree in their first ten digits
        epsilon, ratio = mpmath.mpf(event.stated_epsilon), mpmath.mpf(event.sensitivity)
        a, b = ratio / (2 * event.sigma), epsilon * event.sigma / ratio
        return float(mpmath.ncdf(a - b) - mpmath.exp(epsilon) * mpmath.ncdf(-a - b))


def sampled_gaussian_renyi(event: Any, order: float) -> float:
    multiplier = event.sigma / event.sensitivity if event.sensitivity else math.inf
    return min(_sampled_gaussian(multiplier, event.rate, order), order * gaussian_rho(event))


@cache
def _sampled_gaussian(multiplier: float, rate: float, order: float) -> float:
    accountant = RdpAccountant([order], NeighboringRelation.REPLACE_ONE)
    size = 10**9
    accountant.compose(
        SampledWithoutReplacementDpEvent(size, math.ceil(rate * size), GaussianDpEvent(multiplier))
    )
    return float(accountant.rdp[0])


GAUSSIAN = Mechanism(
    "gaussian",
    lambda s, value, size: float(
        mechanisms.gaussian(s, [value], sensitivity=size, sigma=1)[0],
    ),
    gaussian_fits,
    (
        Cost(
            e.GaussianEvent,
            st.builds(e.GaussianEvent, scales, scales),
            no_pure_epsilon,
            gaussian_rho,
        ),
        Cost(
            e.SubsampledGaussianEvent,
            st.builds(e.SubsampledGaussianEvent, scales, scales, st.floats(0.01, 1)),
            no_pure_epsilon,
            gaussian_rho,
            renyi=sampled_gaussian_renyi,
        ),
    ),
    sampled=lambda s, value, size: float(
        mechanisms.gaussian(s, [value], sensitivity=size, sigma=1, rate=0.3)[0]
    ),
)

ANALYTIC_GAUSSIAN = Mechanism(
    "analytic_gaussian",
    lambda s, value, size: float(
        mechanisms.analytic_gaussian(s, [value], sensitivity=1, epsilon=size, delta=1e-9)[0][0]
    ),
    analytic_gaussian_fits,
    (
        Cost(
            e.AnalyticGaussianEvent,
            st.builds(e.AnalyticGaussianEvent, scales, scales, scales),
            lambda v: v.stated_epsilon if v.sensitivity else 0.0,
            gaussian_rho,
            gaussian_curve,
        ),
    ),
)


# Exponential --------------------------------------------------------------------------


def exponential_fits(s: RunContext) -> bool:
    """Frequencies of each index against exp(epsilon u / (2 sensitivity))."""
    utilities = np.array([0.0, -1.0, 2.0, -6.0])
    drawn = [
        mechanisms.exponential(s, utilities, epsilon=1.6, sensitivity=2.0) for _ in range(DRAWS)
    ]
    weights = np.exp(1.6 * utilities / 4)
    expected = DRAWS * weights / weights.sum()
    observed = np.bincount(drawn, minlength=4)
    return bool(chi2.sf(np.sum((observed - expected) ** 2 / expected), 3) > ALPHA)


EXPONENTIAL = Mechanism(
    "exponential",
    lambda s, value, size: float(mechanisms.exponential(s, [0.0, 1.0, value], epsilon=size)),
    exponential_fits,
    (
        Cost(
            e.ExponentialEvent,
            st.builds(e.ExponentialEvent, scales, scales, scales),
            lambda v: v.stated_epsilon * v.sensitivity / v.stated_sensitivity,
            # of bounded range epsilon
            lambda v: min(epsilon_of(v) ** 2 / 8, epsilon_of(v)),
        ),
    ),
)


# Above-threshold ----------------------------------------------------------------------


def above_threshold_fits(s: RunContext) -> bool:
    """Threshold and query noise, each on its own scale."""
    thresholds, queries = [], []
    for _ in range(DRAWS):
        run = mechanisms.AboveThreshold(
            s, threshold=5.0, sensitivity=1, threshold_scale=0.7, query_scale=2.1
        )
        thresholds.append(run.noisy_threshold)
        # far below, so that what stops the run is never the query's own noise
        run.above(-1e6)
        queries.append(run.noisy_value + 1e6)
    return follows(thresholds, laplace(5.0, 0.7).cdf) and follows(queries, laplace(0, 2.1).cdf)


def first_answer(s: RunContext, value: float, size: float, rate: float = 1.0) -> float:
    run = mechanisms.AboveThreshold(
        s, threshold=0, sensitivity=size, threshold_scale=1, query_scale=2, rate=rate
    )
    return float(run.above(value))


def sampled_epsilon(event: e.SubsampledEvent) -> float:
    inner = epsilon_of(event.inner)
    if inner > 100:  # e^-100 is below rounding
        return inner + math.log(event.rate)
    if inner > 1e-4:
        return math.log(1 + event.rate * (math.exp(inner) - 1))
    return math.log1p(event.rate * math.expm1(inner))


ABOVE_THRESHOLD = Mechanism(
    "AboveThreshold",
    first_answer,
    above_threshold_fits,
    (
        Cost(
            e.AboveThresholdEvent,
            st.builds(e.AboveThresholdEvent, scales, scales, scales),
            lambda v: (
                v.sensitivity / v.threshold_scale + 2 * v.sensitivity / v.query_scale
                if v.sensitivity
                else 0.0
            ),
        ),
        Cost(
            e.SubsampledEvent,
            st.builds(
                e.SubsampledEvent,
                st.builds(e.LaplaceEvent, scales, scales)
                | st.builds(e.AboveThresholdEvent, scales, scales, scales),
                st.floats(0.01, 1),
            ),
            sampled_epsilon,
            delta=lambda v: v.rate * delta_of(v.inner),
        ),
    ),
    sampled=lambda s, value, size: first_answer(s, value, size, rate=0.3),
)


# Propose, test, release; release if stable ------------------------------------------------


def propose_test_release_fits(s: RunContext) -> bool:
    """Noise on the release; and how often a distance at the threshold passes each of two tests."""
    threshold = 1 + math.log(1 / 1e-3) / 0.8

    def release(distances: tuple[float, ...]) -> float | None:
        return mechanisms.propose_test_release(
            s, 2.0, distances, length=0.5, epsilon=0.8, slack=1e-3
        )

    draws = [release((1e6,)) for _ in range(DRAWS)]
    if not follows(draws, laplace(2.0, 0.5 / 0.8).cdf):
        return False
    at, above = threshold, threshold + 1.0
    passed = sum(release((at, above)) is not None for _ in range(DRAWS))
    missed = 0.5 * laplace(0, 1 / 0.8).cdf(-1.0)
    return bool(binomtest(DRAWS - passed, DRAWS, missed).pvalue > ALPHA)


def stable_release_fits(s: RunContext) -> bool:
    """How often a distance one above the threshold passes; what passes is not changed."""
    distance = math.log(1 / 1e-3) / 0.8 + 1.0
    found = [
        mechanisms.stable_release(s, 2.0, distance, epsilon=0.8, delta=1e-3) for _ in range(DRAWS)
    ]
    assert set(found) <= {2.0, None}
    missed = float(laplace(0, 1 / 0.8).cdf(-1.0))
    return bool(binomtest(found.count(None), DRAWS, missed).pvalue > ALPHA)


PROPOSE_TEST_RELEASE = Mechanism(
    "propose_test_release",
    lambda s, value, size: (
        mechanisms.propose_test_release(s, value, (1e9,), length=1, epsilon=size / 2, slack=1e-9)
        or value
    ),
    propose_test_release_fits,
    (
        Cost(
            e.ProposeTestReleaseEvent,
            st.builds(e.ProposeTestReleaseEvent, scales, small, st.integers(1, 3), scales),
            lambda v: v.step * (1 + v.tests),
            from_epsilon,
            lambda v: v.slack / 2 * v.tests,
        ),
    ),
)

STABLE_RELEASE = Mechanism(
    "stable_release",
    lambda s, value, size: (
        mechanisms.stable_release(s, value, 1.0, epsilon=size, delta=1e-9) or 0.0
    ),
    stable_release_fits,
    (
        Cost(
            e.StableEvent,
            st.builds(e.StableEvent, scales, small, st.booleans()),
            lambda v: v.stated_epsilon if v.defended else math.inf,
            from_epsilon,
            lambda v: v.delta,
        ),
    ),
)


# The table ----------------------------------------------------------------------------

MECHANISMS = {
    mechanism.name: mechanism
    for mechanism in (
        LAPLACE,
        SMOOTH_LAPLACE,
        GAUSSIAN,
        ANALYTIC_GAUSSIAN,
        EXPONENTIAL,
        ABOVE_THRESHOLD,
        PROPOSE_TEST_RELEASE,
        STABLE_RELEASE,
    )
}

# Public names of the mechanisms' module that draw nothing.
DRAWS_NOTHING = {"smooth_beta"}

# A release without noise, which no mechanism makes.
UNDEFENDED = Cost(
    e.UndefendedEvent,
    st.builds(e.UndefendedEvent, st.text()),
    lambda v: math.inf,
    lambda v: math.inf,
)

COSTS = (*(cost for m in MECHANISMS.values() for cost in m.charges), UNDEFENDED)


ON_A_SAMPLE = " on a sample"


def every_release() -> dict[str, Callable[[RunContext, float, float], float]]:
    """Each way to release through each mechanism, by a name for the test's report."""
    return {
        m.name + (ON_A_SAMPLE if release is m.sampled else ""): release
        for m in MECHANISMS.values()
        for release in m.releases()
    }
