"""Charges of mechanisms: data that fully describe one noisy release.

Each event has two costs for replace-one neighbours, both based on the sensitivity that can be
*proven*, not on the one that a paper claims:

- ``epsilon``: its pure differential privacy cost (``inf`` if it has none),
- ``rho``: its zero-concentrated cost (Bun and Steinke 2016). A pure step of epsilon costs epsilon^2
  / 2, and never more than epsilon.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Protocol, runtime_checkable

from engine.privacy.accounting import gaussian_delta


@runtime_checkable
class Event(Protocol):
    """One charge. ``delta`` is the event's contribution to the total delta."""

    @property
    def epsilon(self) -> float:
        """The pure cost, or inf if there is none."""

    @property
    def rho(self) -> float:
        """Zero-concentrated cost."""

    @property
    def delta(self) -> float:
        """The event's share of delta."""

    def describe(self) -> str:
        """Describe the charge in words, for the ledger on the page."""


class _Pure(ABC):
    """Base of events with a pure epsilon."""

    @property
    @abstractmethod
    def epsilon(self) -> float: ...

    @property
    def rho(self) -> float:
        """epsilon^2 / 2, and at most epsilon."""
        # A pure step's Renyi divergence of any order is at most its epsilon, so rho <= epsilon too.
        epsilon = self.epsilon
        return min(epsilon**2 / 2, epsilon)

    @property
    def delta(self) -> float:
        return 0.0


@dataclass(frozen=True)
class LaplaceEvent(_Pure):
    """The release of a value with this proven sensitivity, with Laplace noise of this scale."""

    sensitivity: float
    scale: float

    @property
    def epsilon(self) -> float:
        """sensitivity / scale (Dwork et al. 2006)."""
        return _ratio(self.sensitivity, self.scale)

    def describe(self) -> str:
        """Describe the charge in words."""
        return f"Laplace, sensitivity {self.sensitivity:.4g}, scale {self.scale:.4g}"


@dataclass(frozen=True)
class AboveThresholdEvent(_Pure):
    """One round of the sparse vector technique, up to its first positive answer (Lyu et al. 2017).

    The threshold has noise Laplace(threshold_scale), and every query has noise Laplace(query_scale)
    and the same proven sensitivity s. The cost is epsilon = s / threshold_scale + 2 s / query_scale
    for any number of negative answers.
    """

    sensitivity: float
    threshold_scale: float
    query_scale: float

    @property
    def epsilon(self) -> float:
        """s / threshold_scale + 2 s / query_scale, for any number of queries."""
        return _ratio(self.sensitivity, self.threshold_scale) + _ratio(
            2 * self.sensitivity, self.query_scale
        )

    def describe(self) -> str:
        """Describe the charge in words."""
        return (
            f"Above-threshold, sensitivity {self.sensitivity:.4g}, threshold scale "
            f"{self.threshold_scale:.4g}, query scale {self.query_scale:.4g}"
        )


@dataclass(frozen=True)
class ExponentialEvent(_Pure):
    """The exponential mechanism with weights exp(scale_epsilon * utility / (2 sensitivity)).

    ``stated_epsilon`` is the epsilon used by the mechanism for a utility of sensitivity
    ``stated_sensitivity``; ``sensitivity`` is the utility's proven sensitivity.
    """

    sensitivity: float
    stated_sensitivity: float
    stated_epsilon: float

    @property
    def epsilon(self) -> float:
        """The stated epsilon times the proven divided by the stated sensitivity."""
        return self.stated_epsilon * _ratio(self.sensitivity, self.stated_sensitivity)

    @property
    def rho(self) -> float:
        """epsilon^2 / 8, and at most epsilon."""
        # Bounded range (Durfee-Rogers 2019; Cesar-Rogers 2021): epsilon^2 / 8 for an
        # exponential mechanism of parameter epsilon.
        return min(self.epsilon**2 / 8, self.epsilon)

    def describe(self) -> str:
        """Describe the charge in words."""
        return f"Exponential mechanism, sensitivity {self.sensitivity:.4g}, ε {self.epsilon:.4g}"


@dataclass(frozen=True)
class GaussianEvent:
    """The release of a value or vector with proven l2 sensitivity and Gaussian noise sigma."""

    sensitivity: float
    sigma: float

    @property
    def epsilon(self) -> float:
        """inf, because a Gaussian release has no pure cost, or 0 for sensitivity 0."""
        return 0.0 if self.sensitivity == 0 else math.inf

    @property
    def rho(self) -> float:
        """sensitivity^2 / (2 sigma^2)."""
        return _ratio(self.sensitivity, self.sigma) ** 2 / 2

    @property
    def delta(self) -> float:
        """0, because the ledger converts rho to (epsilon, delta)."""
        return 0.0

    def describe(self) -> str:
        """Describe the charge in words."""
        return f"Gaussian, ℓ2 sensitivity {self.sensitivity:.4g}, σ {self.sigma:.4g}"


@dataclass(frozen=True)
class AnalyticGaussianEvent:
    """One Gaussian release with an exact (epsilon, delta) (Balle and Wang 2018, Theorem 8).

    ``stated_epsilon`` is the epsilon at which delta is read from the mechanism's privacy curve. It
    is for basic composition, which adds up epsilons and deltas; for a single release it is tighter
    than zCDP.
    """

    sensitivity: float
    sigma: float
    stated_epsilon: float

    @property
    def epsilon(self) -> float:
        """The epsilon at which delta is read from the privacy curve."""
        return 0.0 if self.sensitivity == 0 else self.stated_epsilon

    @property
    def rho(self) -> float:
        """sensitivity^2 / (2 sigma^2)."""
        return _ratio(self.sensitivity, self.sigma) ** 2 / 2

    @property
    def delta(self) -> float:
        """The exact delta at the stated epsilon."""
        if self.sensitivity == 0:
            return 0.0
        return gaussian_delta(self.stated_epsilon, self.sigma / self.sensitivity)

    def describe(self) -> str:
        """Describe the charge in words, with its (epsilon, delta)."""
        return (
            f"Gaussian, ℓ2 sensitivity {self.sensitivity:.4g}, σ {self.sigma:.4g}: "
            f"({self.stated_epsilon:.4g}, {self.delta:.3g})"
        )


@dataclass(frozen=True)
class SubsampledEvent(_Pure):
    """A pure event on m of n rows, drawn without replacement.

    The cost is Balle, Barthe and Gaboardi 2018, Theorem 9, for replace-one neighbours: epsilon =
    ln(1 + rate (e^inner - 1)).
    """

    inner: Event
    rate: float

    @cached_property
    def epsilon(self) -> float:
        """ln(1 + rate (e^inner - 1))."""
        inner = self.inner.epsilon
        if inner > 500:  # e^inner overflows; the rate is then only a shift
            return inner + math.log(self.rate)
        return math.log1p(self.rate * math.expm1(inner))

    def describe(self) -> str:
        """Describe the inner charge and the rate in words."""
        return f"{self.inner.describe()}, on a {self.rate:.3g} sample"


@dataclass(frozen=True)
class SubsampledGaussianEvent(GaussianEvent):
    """A Gaussian release from a fresh sample of m = rate n rows, without replacement.

    ``rho`` is the cost of the release without sampling, because the Renyi divergence of mixtures is
    at most that of the worst mixed pair. The gain from sampling depends on the Renyi order:
    :func:`renyi`.
    """

    rate: float

    def describe(self) -> str:
        """Describe the charge and the rate in words."""
        return f"{super().describe()}, on a {self.rate:.3g} sample"


@dataclass(frozen=True)
class SmoothEvent:
    """The release of a value with Laplace noise calibrated to its smooth sensitivity.

    By Nissim, Raskhodnikova and Smith 2007, with noise 2 S / epsilon for a bound S that is
    beta-smooth, beta = epsilon / (2 ln(2 / slack)), the release is (epsilon, delta)-DP with delta =
    slack (1 + e^(epsilon/2)) / 2. This delta comes from the proof; the worst pair found by search
    needs a sixtieth of it.
    """

    epsilon: float
    slack: float

    @property
    def rho(self) -> float:
        """epsilon^2 / 2, and at most epsilon; delta is separate."""
        # (epsilon, delta)-DP is delta-approximate (epsilon^2 / 2)-zCDP.
        return min(self.epsilon**2 / 2, self.epsilon)

    @property
    def delta(self) -> float:
        """slack (1 + e^(epsilon/2)) / 2, at most 1."""
        half = self.epsilon / 2
        return 1.0 if half > 500 else min(1.0, self.slack * (1 + math.exp(half)) / 2)

    def describe(self) -> str:
        """Describe the charge in words."""
        return f"Laplace on smooth sensitivity, ε {self.epsilon:.4g}, δ {self.delta:.2g}"


@dataclass(frozen=True)
class ProposeTestReleaseEvent:
    """The release of a value with Laplace noise if it is far from leaving an interval.

    By Dwork and Lei 2009, each of ``tests`` noisy distances costs ``step``, and the release costs
    one more ``step``. A value that one record could move out of its interval, which has the given
    length, passes one test with probability at most slack / 2.
    """

    step: float
    slack: float
    tests: int
    length: float = 1.0

    @property
    def threshold(self) -> float:
        """The value that a noisy distance must exceed."""
        return 1 + math.log(1 / self.slack) / self.step

    @property
    def epsilon(self) -> float:
        """One step per test, and one for the release."""
        return (self.tests + 1) * self.step

    @property
    def rho(self) -> float:
        """epsilon^2 / 2, and at most epsilon; delta is separate."""
        # (epsilon, delta)-DP is delta-approximate (epsilon^2 / 2)-zCDP.
        return min(self.epsilon**2 / 2, self.epsilon)

    @property
    def delta(self) -> float:
        """slack / 2 per test, at most 1."""
        return min(1.0, self.tests * self.slack / 2)

    def describe(self) -> str:
        """Describe the charge in words."""
        return (
            f"Propose-test-release, {self.tests} tests and a release of ε {self.step:.4g} each, "
            f"δ {self.delta:.2g}"
        )


@dataclass(frozen=True)
class StableEvent:
    """The exact release of a value that only many records can change (Dwork and Roth, Alg. 13).

    The last field is False, and there is no guarantee, if one record can change the noisy distance
    by more than 1.
    """

    stated_epsilon: float
    delta: float
    defended: bool = True

    @property
    def threshold(self) -> float:
        """The value that the noisy number of records must exceed."""
        return math.log(1 / self.delta) / self.stated_epsilon

    @property
    def epsilon(self) -> float:
        """The stated epsilon, or inf if no bound on the number of records is proven."""
        return self.stated_epsilon if self.defended else math.inf

    @property
    def rho(self) -> float:
        """epsilon^2 / 2, and at most epsilon; delta is separate."""
        return min(self.epsilon**2 / 2, self.epsilon)

    def describe(self) -> str:
        """Describe the charge in words."""
        return f"Release if stable, ε {self.stated_epsilon:.4g}, δ {self.delta:.2g}"


@dataclass(frozen=True)
class UndefendedEvent:
    """A release of the data without noise, so without a guarantee."""

    reason: str

    epsilon: float = math.inf
    rho: float = math.inf
    delta: float = 0.0

    def describe(self) -> str:
        """Explain why there is no guarantee."""
        return f"No guarantee: {self.reason}"


def renyi(event: Event, renyi_order: float) -> float:
    """Return the Renyi cost, without delta, at an order above 1; an "rdp" ledger adds these up."""
    if isinstance(event, SubsampledGaussianEvent) and 0 < event.rate < 1:
        multiplier = event.sigma / event.sensitivity if event.sensitivity else math.inf
        sampled = subsampled_gaussian_renyi(event.rate, multiplier, renyi_order)
        return min(event.rho * renyi_order, sampled)
    return min(event.rho * renyi_order, event.epsilon)


@lru_cache(maxsize=4096)
def subsampled_gaussian_renyi(rate: float, multiplier: float, renyi_order: float) -> float:
    """Return the Renyi cost of a Gaussian on a sample without replacement (replace-one).

    Uses Wang, Balle and Kasiviswanathan 2019, Theorem 27, from dp-accounting; ``multiplier`` is
    sigma divided by the sensitivity on the sample.
    """
    from dp_accounting import dp_event, privacy_accountant
    from dp_accounting.rdp import RdpAccountant

    if math.isinf(multiplier):
        return 0.0
    one = RdpAccountant([renyi_order], privacy_accountant.NeighboringRelation.REPLACE_ONE)
    rows = 10**9  # the accountant takes sizes but uses only their ratio
    gaussian = dp_event.GaussianDpEvent(multiplier)
    one.compose(
        dp_event.SampledWithoutReplacementDpEvent(rows, max(1, math.ceil(rate * rows)), gaussian)
    )
    return float(one.rdp[0])


def _ratio(sensitivity: float, scale: float) -> float:
    if sensitivity == 0:
        return 0.0
    return math.inf if scale == 0 else sensitivity / scale
