"""Charges of mechanisms: data that states the full mathematics of one noisy release.

Each event knows two costs, both with respect to replace-one neighbours and with the sensitivity
that can be *proven* (not the one a paper claims):

- ``epsilon``: its pure differential privacy cost (``inf`` where it has none),
- ``rho``: its zero-concentrated cost (Bun and Steinke 2016); a pure step of epsilon costs
  epsilon^2 / 2, and never more than epsilon.
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
    """One charge. The event itself adds ``delta`` to the failure probability."""

    @property
    def epsilon(self) -> float:
        """Pure cost; inf where it has none."""

    @property
    def rho(self) -> float:
        """Zero-concentrated cost."""

    @property
    def delta(self) -> float:
        """The event's share of the failure probability."""

    def describe(self) -> str:
        """Describe the charge in words, for the ledger on the page."""


class _Pure(ABC):
    """Common to events with a pure epsilon."""

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
    """A value of the given proven sensitivity released with Laplace noise of the given scale."""

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
    """One run of the sparse vector technique up to its first positive answer (Lyu et al. 2017).

    Threshold noise Laplace(threshold_scale), query noise Laplace(query_scale), every query of the
    same proven sensitivity s: epsilon = s / threshold_scale + 2 s / query_scale, however many
    negative answers it gives.
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

    ``stated_epsilon`` is the epsilon the mechanism was run with for a utility of sensitivity
    ``stated_sensitivity``; ``sensitivity`` is the utility's proven one.
    """

    sensitivity: float
    stated_sensitivity: float
    stated_epsilon: float

    @property
    def epsilon(self) -> float:
        """The stated epsilon times the proven over the stated sensitivity."""
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
    """A value (or vector) of the given proven l2 sensitivity with Gaussian noise of std sigma."""

    sensitivity: float
    sigma: float

    @property
    def epsilon(self) -> float:
        """inf: a Gaussian release has no pure cost, unless nothing can move."""
        return 0.0 if self.sensitivity == 0 else math.inf

    @property
    def rho(self) -> float:
        """sensitivity^2 / (2 sigma^2)."""
        return _ratio(self.sensitivity, self.sigma) ** 2 / 2

    @property
    def delta(self) -> float:
        """0: the conversion of rho to (epsilon, delta) is the ledger's."""
        return 0.0

    def describe(self) -> str:
        """Describe the charge in words."""
        return f"Gaussian, ℓ2 sensitivity {self.sensitivity:.4g}, σ {self.sigma:.4g}"


@dataclass(frozen=True)
class AnalyticGaussianEvent:
    """One Gaussian release stated as (epsilon, delta), exactly (Balle and Wang 2018, Theorem 8).

    ``stated_epsilon`` is the epsilon at which delta is read off the mechanism's privacy curve. For
    basic composition, where epsilons and deltas add up; tighter than zCDP for a single release.
    """

    sensitivity: float
    sigma: float
    stated_epsilon: float

    @property
    def epsilon(self) -> float:
        """The epsilon at which delta is read off the privacy curve."""
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
    """A pure event run on m of n rows drawn without replacement.

    Balle, Barthe and Gaboardi 2018, Theorem 9: replace-one neighbours,
    epsilon = ln(1 + rate (e^inner - 1)).
    """

    inner: Event
    rate: float

    @cached_property
    def epsilon(self) -> float:
        """ln(1 + rate (e^inner - 1))."""
        inner = self.inner.epsilon
        if inner > 500:  # e^inner overflows; the rate is then a mere shift
            return inner + math.log(self.rate)
        return math.log1p(self.rate * math.expm1(inner))

    def describe(self) -> str:
        """Describe the inner charge in words, and the rate."""
        return f"{self.inner.describe()}, on a {self.rate:.3g} sample"


@dataclass(frozen=True)
class SubsampledGaussianEvent(GaussianEvent):
    """A Gaussian release computed on a fresh sample of m = rate n rows, without replacement.

    ``rho`` is that of the release without the sampling: a Renyi divergence of mixtures is at most
    the worst one mixed. The gain of sampling depends on the Renyi order: :func:`renyi`.
    """

    rate: float

    def describe(self) -> str:
        """Describe the charge in words, and the rate."""
        return f"{super().describe()}, on a {self.rate:.3g} sample"


@dataclass(frozen=True)
class SmoothEvent:
    """A value released with Laplace noise calibrated to its smooth sensitivity.

    Nissim, Raskhodnikova and Smith 2007: with noise 2 S / epsilon for a bound S that is
    beta-smooth, beta = epsilon / (2 ln(2 / slack)), the release is (epsilon, delta)-DP with
    delta = slack (1 + e^(epsilon/2)) / 2. The proof gives this delta; the worst
    pair found by search needs a sixtieth of it.
    """

    epsilon: float
    slack: float

    @property
    def rho(self) -> float:
        """epsilon^2 / 2, and at most epsilon; delta apart."""
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
    """A value released with Laplace noise if it is far from leaving an interval.

    Dwork and Lei 2009: each of ``tests`` noisy distances costs ``step``, the release itself another
    ``step``; a value that one record could take out of its interval, of the given length, passes
    one test with a probability of at most slack / 2.
    """

    step: float
    slack: float
    tests: int
    length: float = 1.0

    @property
    def threshold(self) -> float:
        """The value that a noisy distance has to exceed."""
        return 1 + math.log(1 / self.slack) / self.step

    @property
    def epsilon(self) -> float:
        """A step for each test, and one for the release."""
        return (self.tests + 1) * self.step

    @property
    def rho(self) -> float:
        """epsilon^2 / 2, and at most epsilon; delta apart."""
        # (epsilon, delta)-DP is delta-approximate (epsilon^2 / 2)-zCDP.
        return min(self.epsilon**2 / 2, self.epsilon)

    @property
    def delta(self) -> float:
        """slack / 2 for each test, at most 1."""
        return min(1.0, self.tests * self.slack / 2)

    def describe(self) -> str:
        """Describe the charge in words."""
        return (
            f"Propose-test-release, {self.tests} tests and a release of ε {self.step:.4g} each, "
            f"δ {self.delta:.2g}"
        )


@dataclass(frozen=True)
class StableEvent:
    """A value released as it is if many records must change to move it (Dwork and Roth, Alg. 13).

    The last field is False, and there is no guarantee, if one record can change the noisy distance
    by more than 1.
    """

    stated_epsilon: float
    delta: float
    defended: bool = True

    @property
    def threshold(self) -> float:
        """The value that the noisy number of records has to exceed."""
        return math.log(1 / self.delta) / self.stated_epsilon

    @property
    def epsilon(self) -> float:
        """The stated epsilon; inf where no bound on the number of records is proven."""
        return self.stated_epsilon if self.defended else math.inf

    @property
    def rho(self) -> float:
        """epsilon^2 / 2, and at most epsilon; delta apart."""
        return min(self.epsilon**2 / 2, self.epsilon)

    def describe(self) -> str:
        """Describe the charge in words."""
        return f"Release if stable, ε {self.stated_epsilon:.4g}, δ {self.delta:.2g}"


@dataclass(frozen=True)
class UndefendedEvent:
    """A release of the data that carries no noise at all: it has no guarantee."""

    reason: str

    epsilon: float = math.inf
    rho: float = math.inf
    delta: float = 0.0

    def describe(self) -> str:
        """Say why there is no guarantee."""
        return f"No guarantee: {self.reason}"


def renyi(event: Event, renyi_order: float) -> float:
    """Return the Renyi cost at an order above 1, without delta: an "rdp" ledger adds these up."""
    if isinstance(event, SubsampledGaussianEvent) and 0 < event.rate < 1:
        multiplier = event.sigma / event.sensitivity if event.sensitivity else math.inf
        sampled = subsampled_gaussian_renyi(event.rate, multiplier, renyi_order)
        return min(event.rho * renyi_order, sampled)
    return min(event.rho * renyi_order, event.epsilon)


@lru_cache(maxsize=4096)
def subsampled_gaussian_renyi(rate: float, multiplier: float, renyi_order: float) -> float:
    """Renyi cost of a Gaussian on a sample without replacement, for replace-one neighbours.

    Wang, Balle and Kasiviswanathan 2019, Theorem 27, by dp-accounting; ``multiplier`` is sigma
    over the sensitivity on the sample.
    """
    from dp_accounting import dp_event, privacy_accountant
    from dp_accounting.rdp import RdpAccountant

    if math.isinf(multiplier):
        return 0.0
    one = RdpAccountant([renyi_order], privacy_accountant.NeighboringRelation.REPLACE_ONE)
    rows = 10**9  # the accountant takes sizes and uses their ratio alone
    gaussian = dp_event.GaussianDpEvent(multiplier)
    one.compose(
        dp_event.SampledWithoutReplacementDpEvent(rows, max(1, math.ceil(rate * rows)), gaussian)
    )
    return float(one.rdp[0])


def _ratio(sensitivity: float, scale: float) -> float:
    if sensitivity == 0:
        return 0.0
    return math.inf if scale == 0 else sensitivity / scale
