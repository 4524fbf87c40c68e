"""The only module that draws privacy noise. Every mechanism charges the ledger before it draws.

``sensitivity`` is always the proven one and determines the charge. The noise scale is a separate
argument, because the papers calibrate theirs to bounds that are not always true. Scales are Laplace
scales b or Gaussian standard deviations, in the unit of the released value.

Every answer passes through :meth:`Randomness.released`, with its charge and its exact input, so
that an audit can record a run and force its answers on a neighbour (:mod:`engine.audit.replay`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import copy
from functools import lru_cache
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.privacy.accounting import analytic_gaussian_sigma
from engine.privacy.events import (
    AboveThresholdEvent,
    AnalyticGaussianEvent,
    Event,
    ExponentialEvent,
    GaussianEvent,
    LaplaceEvent,
    ProposeTestReleaseEvent,
    SmoothEvent,
    StableEvent,
    SubsampledEvent,
    SubsampledGaussianEvent,
)
from engine.privacy.ledger import BudgetExhausted, Ledger
from engine.privacy.sources import NoiseSource
from engine.randomness import Randomness


class Paying(Protocol):
    """The parts of a session that a mechanism needs: a ledger to charge and a source of noise."""

    @property
    def ledger(self) -> Ledger:
        """The ledger that is charged before any noise is drawn."""

    @property
    def randomness(self) -> Randomness:
        """The source of the noise."""


def _noise(session: Paying) -> np.random.Generator:
    return session.randomness.generator("noise")


def laplace(
    session: Paying,
    value: float,
    *,
    sensitivity: float,
    scale: float,
    label: str = "Laplace",
    order: int | None = None,
) -> float:
    """Release ``value`` with Laplace(scale) noise (Dwork et al. 2006)."""
    event = LaplaceEvent(sensitivity, scale)
    session.ledger.charge(event, label=label, order=order)
    exact = float(value)
    noisy = exact + float(_noise(session).laplace(0.0, scale))
    return session.randomness.released(event, exact, noisy)


def smooth_beta(epsilon: float, slack: float) -> float:
    """Return the smoothness that :func:`smooth_laplace` needs: epsilon / (2 ln(2 / slack))."""
    return epsilon / (2 * math.log(2 / slack))


def smooth_laplace(
    session: Paying,
    value: float,
    *,
    smooth_sensitivity: float,
    epsilon: float,
    slack: float,
    label: str = "Smooth Laplace",
    order: int | None = None,
) -> float:
    """Release ``value`` with noise 2 S / epsilon; S is its :func:`smooth_beta`-smooth sensitivity.

    By Nissim, Raskhodnikova, Smith 2007, Lemma 2.9, Laplace noise is admissible with alpha =
    epsilon / 2 and beta = epsilon / (2 ln(2 / slack)); :class:`SmoothEvent` gives the delta.
    """
    event = SmoothEvent(epsilon, slack)
    session.ledger.charge(event, label=label, order=order)
    exact = float(value)
    noisy = exact + float(_noise(session).laplace(0.0, 2 * smooth_sensitivity / epsilon))
    return session.randomness.released(event, exact, noisy)


def gaussian(
    session: Paying,
    values: ArrayLike,
    *,
    sensitivity: float,
    sigma: float,
    rate: float = 1.0,
    label: str = "Gaussian",
    order: int | None = None,
    iteration: int | None = None,
    rounding: float = 0.0,
) -> NDArray[np.float64]:
    """Release an array with N(0, sigma^2) noise on each entry; ``sensitivity`` is its l2 one.

    ``rate`` < 1 means that the array comes from a fresh sample with this share of the rows, drawn
    without replacement; ``sensitivity`` is then the one on the sample. ``rounding`` bounds the
    floating-point error of an entry, from public facts. A hardened source of noise increases
    sensitivity and sigma by the same factor to cover it.
    """
    exact = np.asarray(values, dtype=float)
    source = session.randomness
    if isinstance(source, NoiseSource):
        wider = source.widening(sensitivity, sigma, exact.size, rounding)
        sensitivity, sigma = sensitivity * wider, sigma * wider
    event = GaussianEvent(sensitivity, sigma)
    if rate < 1:
        event = SubsampledGaussianEvent(sensitivity, sigma, rate)
    session.ledger.charge(event, label=label, order=order, iteration=iteration)
    if isinstance(source, NoiseSource):
        noisy = source.gaussian(exact, sensitivity, sigma)
    else:
        noisy = exact + _noise(session).normal(0.0, sigma, exact.shape)
    return source.released(event, exact, noisy)


def analytic_gaussian(
    session: Paying,
    values: ArrayLike,
    *,
    sensitivity: float,
    epsilon: float,
    delta: float,
    label: str = "Gaussian",
    order: int | None = None,
) -> tuple[NDArray[np.float64], float]:
    """Release an array with the least Gaussian noise for (epsilon, delta)-DP; return sigma, too.

    The noise follows Balle and Wang 2018. ``sensitivity`` is the array's l2 sensitivity; the charge
    states (epsilon, delta).
    """
    # Slightly more noise, so that rounding cannot put the charge above the requested delta.
    sigma = analytic_gaussian_sigma(epsilon, delta, sensitivity) * (1 + 1e-9)
    event = AnalyticGaussianEvent(sensitivity, sigma, epsilon)
    while event.delta > delta:  # delta is near the precision of the curve
        sigma *= 1.001
        event = AnalyticGaussianEvent(sensitivity, sigma, epsilon)
    session.ledger.charge(event, label=label, order=order)
    exact = np.asarray(values, dtype=float)
    noisy = exact + _noise(session).normal(0.0, sigma, exact.shape)
    return session.randomness.released(event, exact, noisy), sigma


def propose_test_release(
    session: Paying,
    value: float,
    distances: Sequence[float],
    *,
    length: float,
    epsilon: float,
    slack: float,
    label: str = "Propose-test-release",
    order: int | None = None,
) -> float | None:
    """Release ``value`` with Laplace(length / epsilon) noise if it is stable; otherwise None.

    The method is from Dwork and Lei 2009. ``distances`` are the numbers of records to change until
    the value leaves each of its intervals of the given length; one record changes each distance by
    at most 1. The value is stable if one distance, with noise, exceeds 1 + ln(1 / slack) / epsilon.
    ``epsilon`` is the cost of each part; the total cost is (len(distances) + 1) epsilon.
    """
    event = ProposeTestReleaseEvent(epsilon, slack, len(distances), length)
    session.ledger.charge(event, label=label, order=order)
    exact, noise = np.array([*distances, value], dtype=float), _noise(session)
    # The noise of the release is drawn even if it is not used, so that the number of draws reveals
    # nothing.
    tests = noise.laplace(0.0, 1 / epsilon, len(distances))
    noisy = exact + np.append(tests, noise.laplace(0.0, length / epsilon))
    answer = float(noisy[-1]) if noisy[:-1].max() > event.threshold else None
    return session.randomness.released(event, exact, answer, noisy)


def stable_release(
    session: Paying,
    value: float,
    distance: float,
    *,
    epsilon: float,
    delta: float,
    defended: bool = True,
    label: str = "Release if stable",
    order: int | None = None,
) -> float | None:
    """Release the exact ``value`` if ``distance`` plus noise exceeds ln(1 / delta) / epsilon.

    The method is Dwork and Roth 2013, Algorithm 13. ``distance`` is a lower bound on the number of
    records to change before the value can change. If one record can change the distance by more
    than 1, there is no guarantee, and the flag before the label is False.
    """
    event = StableEvent(epsilon, delta, defended)
    session.ledger.charge(event, label=label, order=order)
    exact = np.array([distance, value], dtype=float)
    noisy = exact + np.array([_noise(session).laplace(0.0, 1 / epsilon), 0.0])
    answer = float(value) if noisy[0] > event.threshold else None
    return session.randomness.released(event, exact, answer, noisy)


def exponential(
    session: Paying,
    utilities: ArrayLike,
    *,
    epsilon: float,
    sensitivity: float = 1.0,
    defended_sensitivity: float | None = None,
    label: str = "Exponential mechanism",
    order: int | None = None,
) -> int:
    """Draw an index with probability proportional to exp(epsilon u / (2 sensitivity)).

    The mechanism of McSherry and Talwar 2007 is drawn with the Gumbel-max trick, so that no weight
    overflows. ``defended_sensitivity`` is charged if it differs from the one to which the caller
    calibrates.
    """
    defended = sensitivity if defended_sensitivity is None else defended_sensitivity
    event = ExponentialEvent(defended, sensitivity, epsilon)
    session.ledger.charge(event, label=label, order=order)
    u = np.asarray(utilities, dtype=float)
    # The index of the largest logit plus independent Gumbel noise has the softmax distribution.
    noisy = epsilon * u / (2 * sensitivity) + _noise(session).gumbel(size=u.shape)
    return session.randomness.released(event, u, int(np.argmax(noisy)), noisy)


@lru_cache(maxsize=256)  # the rounds of a run are alike
def _above_threshold(
    sensitivity: float, threshold_scale: float, query_scale: float, rate: float
) -> Event:
    """Return the event charged for a round."""
    event = AboveThresholdEvent(sensitivity, threshold_scale, query_scale)
    return SubsampledEvent(event, rate) if rate < 1 else event


class AboveThreshold:
    """One round of the sparse vector technique, which ends after its first positive answer.

    The whole round is charged when it starts, because negative answers are free and the last round
    may never have a positive one. ``rate`` < 1 means that the queries use a fresh sample with this
    share of the rows, drawn without replacement. ``reserve`` has the events caused by the round's
    positive answer; the round starts only if they fit, too.
    """

    def __init__(
        self,
        session: Paying,
        *,
        threshold: float,
        sensitivity: float,
        threshold_scale: float,
        query_scale: float,
        rate: float = 1.0,
        reserve: Sequence[Event] = (),
        label: str = "Above-threshold",
        order: int | None = None,
    ):
        # A charge is identified by its event object, so each round has a separate one.
        event = copy(_above_threshold(sensitivity, threshold_scale, query_scale, rate))
        if not session.ledger.affords(event, *reserve):
            raise BudgetExhausted(
                "The remaining budget is too small for a round and the charges of its answer."
            )
        session.ledger.charge(event, label=label, order=order)
        self._session, self._query_scale = session, query_scale
        self._event, self._threshold = event, threshold
        self._noise = _noise(session)
        self.noisy_threshold = threshold + float(self._noise.laplace(0.0, threshold_scale))
        self.noisy_value = math.nan  # of the last query; internal, never released
        self.open = True

    def above(self, value: float) -> bool:
        """Return True if the noisy value reaches the noisy threshold; the round then ends."""
        if not self.open:
            raise RuntimeError("This run of above-threshold has already given its positive answer.")
        self.noisy_value = value + float(self._noise.laplace(0.0, self._query_scale))
        gap, noisy = value - self._threshold, self.noisy_value - self.noisy_threshold
        answer = self.noisy_value >= self.noisy_threshold
        answer = self._session.randomness.released(self._event, gap, answer, noisy)
        self.open = not answer
        return answer
