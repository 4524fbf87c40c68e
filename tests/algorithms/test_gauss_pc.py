"""Sub-sampled Gaussian PC: its limit, its plan, its accountant."""

import math
from functools import cache

import pytest

from engine import InputError, load_dataset, run
from engine.algorithms.gauss_pc import NoisePlan, claimed_total, least_noise
from engine.privacy.accounting import Guarantee, rho_budget
from engine.privacy.events import SubsampledGaussianEvent, renyi
from engine.privacy.ledger import Ledger

TESTS = 50


@cache
def planned(epsilon, rate):
    """A plan on a sample takes half a second: each is made once."""
    return least_noise(Guarantee(epsilon, 1e-6), TESTS, rate)


@pytest.mark.parametrize("rate", [1.0, 0.3, 0.05])
@pytest.mark.parametrize("epsilon", [0.1, 10.0])
@pytest.mark.slow
def test_plan_spends_the_total_and_no_more(epsilon, rate):
    total, found = Guarantee(epsilon, 1e-6), planned(epsilon, rate)
    ledger = Ledger(total, method="rdp", renyi_order=found.renyi_order)
    event = SubsampledGaussianEvent(1.0, found.multiplier, rate)
    share = renyi(event, found.renyi_order) * TESTS / ledger.limit
    assert 0.99 < share <= 1 + 1e-9


def test_without_sampling_the_plan_beats_zcdp():
    total = Guarantee(1.0, 1e-6)
    by_zcdp = math.sqrt(100 / (2 * rho_budget(1.0, 1e-6)))
    found = least_noise(total, 100, 1.0)
    assert 0.8 * by_zcdp < found.multiplier < by_zcdp


def test_no_answer_costs_nothing():
    assert claimed_total(0, 4.0, 1.0, 1e-6) == Guarantee(0.0, 0.0)


def test_strict_ends_with_the_last_planned_test():
    data = load_dataset("asia", n=5_000, seed=0)
    for seed in range(10):
        result = run("gauss_pc", data, tests=30, seed=seed)
        assert len(result.ledger) <= 30
        assert result.ledger.used <= result.ledger.limit * (1 + 1e-9)
        assert result.status == ("budget_exhausted" if len(result.ledger) == 30 else "complete")
    assert isinstance(least_noise(Guarantee(1.0, 1e-6), 30, 1.0), NoisePlan)


def test_published_refuses_the_median():
    data = load_dataset("cancer", n=1_000, seed=0)
    with pytest.raises(InputError, match="strict mode only"):
        run("gauss_pc", data, statistic="g2", guarantee="published")
