"""Every mechanism with all that the tests need to know of it: a new one is one entry here.

From this table come the tests of noise scales and of charges before draws (test_mechanisms.py),
the costs that the ledger's are compared with (readd.py) and the random events of the ledger's
properties (test_ledger.py). Costs are written apart from the engine, to check it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import mpmath
from dp_accounting.dp_event import GaussianDpEvent, SampledWithoutReplacementDpEvent
from dp_accounting.privacy_accountant import NeighboringRelation
from dp_accounting.rdp import RdpAccountant
from hypothesis import strategies as st

from engine.context import RunContext
from engine.privacy import events as e
from engine.privacy import mechanisms
from engine.privacy.accounting import analytic_gaussian_sigma


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

    ``sampled`` does so on a sample of the rows, where the mechanism can. ``noise(size)`` is what
    either draws, in turn: the distribution and its scale, by the mechanism's source. ``charges``
    are the costs of all events it may charge.
    """

    name: str
    release: Callable[[RunContext, float, float], float]
    noise: Callable[[float], list[tuple[str, float]]]
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


# Laplace ------------------------------------------------------------------------------

scales = st.floats(0.01, 100)
small = st.floats(1e-12, 1e-3)


LAPLACE = Mechanism(
    "laplace",
    lambda s, value, size: mechanisms.laplace(s, value, sensitivity=3 * size, scale=3),
    lambda size: [("laplace", 3)],
    (
        Cost(
            e.LaplaceEvent,
            st.builds(e.LaplaceEvent, scales, scales),
            lambda v: v.sensitivity / v.scale if v.sensitivity else 0.0,
        ),
    ),
)


SMOOTH_LAPLACE = Mechanism(
    "smooth_laplace",
    lambda s, value, size: mechanisms.smooth_laplace(
        s, value, smooth_sensitivity=3, epsilon=size, slack=1e-9
    ),
    lambda size: [("laplace", 2 * 3 / size)],
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
        mechanisms.gaussian(s, [value, 0], sensitivity=3 * size, sigma=3)[0],
    ),
    lambda size: [("normal", 3)],
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
        mechanisms.gaussian(s, [value, 0], sensitivity=3 * size, sigma=3, rate=0.3)[0]
    ),
)

ANALYTIC_GAUSSIAN = Mechanism(
    "analytic_gaussian",
    lambda s, value, size: float(
        mechanisms.analytic_gaussian(s, [value, 0], sensitivity=2, epsilon=size, delta=1e-9)[0][0]
    ),
    lambda size: [("normal", 2 * analytic_gaussian_sigma(size, 1e-9))],
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


EXPONENTIAL = Mechanism(
    "exponential",
    lambda s, value, size: float(mechanisms.exponential(s, [0.0, 1.0, value], epsilon=size)),
    lambda size: [("gumbel", 1)],
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


def first_answer(s: RunContext, value: float, size: float, rate: float = 1.0) -> float:
    run = mechanisms.AboveThreshold(
        s, threshold=0, sensitivity=3 * size, threshold_scale=3, query_scale=6, rate=rate
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
    lambda size: [("laplace", 3), ("laplace", 6)],
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


PROPOSE_TEST_RELEASE = Mechanism(
    "propose_test_release",
    lambda s, value, size: (
        mechanisms.propose_test_release(
            s, value, (1e9, 1e9), length=3, epsilon=size / 3, slack=1e-9
        )
        or value
    ),
    lambda size: [("laplace", 3 / size), ("laplace", 3 * 3 / size)],
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
    lambda size: [("laplace", 1 / size)],
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
