"""Sieve and examine with noise of one's own: what a variant hands over is what is used."""

from __future__ import annotations

import numpy as np
import pytest

from engine import InputError, load_dataset
from engine.context import RunContext
from engine.privacy.events import GaussianEvent
from engine.privacy.mechanisms import gaussian
from engine.randomness import Randomness
from engine.search.sieve import BUDGET, SieveParameters, sieve_and_examine

ASIA = load_dataset("asia", n=5_000, seed=0)


class Normal:
    """Gaussian noise of deviation unit / epsilon."""

    def event(self, sensitivity, unit, epsilon):
        return GaussianEvent(sensitivity, unit / epsilon)

    def draw(self, session, value, sensitivity, unit, epsilon, **told):
        sigma = unit / epsilon
        return gaussian(session, value, sensitivity=sensitivity, sigma=sigma, **told).item()


def decided(params, noise=None):
    """(the outcome, the events that the examines charged) of one run."""
    ledger = BUDGET.ledger(ASIA, params)
    session = RunContext(Randomness(np.random.default_rng(0)), ledger, names=ASIA.names)
    outcome = sieve_and_examine(ASIA, params, session, *([] if noise is None else [noise]))
    return outcome, [charge.event for charge in ledger if charge.label == "examine"]


@pytest.mark.parametrize("statistic", ["kendall", "g2"])
def test_a_variant_draws_its_own_noise_in_every_examine(statistic):
    params = SieveParameters(statistic=statistic, epsilon=50.0)
    outcome, charged = decided(params, Normal())
    assert charged
    assert {type(event) for event in charged} == {GaussianEvent}
    assert np.sum(outcome.cpdag)
    _, usual = decided(params)
    assert GaussianEvent not in {type(event) for event in usual}


def test_the_sieve_keeps_room_for_what_the_variants_examine_costs():
    """A round opens only where its examine still fits: the budget ends on a sieve, or never."""
    params = SieveParameters(epsilon=0.5)
    ledger = BUDGET.ledger(ASIA, params)
    session = RunContext(Randomness(np.random.default_rng(0)), ledger, names=ASIA.names)
    asked = []

    class Dear(Normal):
        def event(self, sensitivity, unit, epsilon):
            asked.append(epsilon)
            return GaussianEvent(sensitivity, 1e-9 * unit)  # more than any budget affords

    outcome = sieve_and_examine(ASIA, params, session, Dear())
    assert asked
    assert outcome.status == "budget_exhausted"
    assert not list(ledger)


def test_a_published_median_takes_laplace_noise_alone():
    params = SieveParameters(statistic="g2", guarantee="published")
    with pytest.raises(InputError, match="Laplace noise alone"):
        decided(params, Normal())
    assert decided(params)[0].status == "complete"
