"""SVT-PC: its limit without noise, its charges, its claims."""

import math

import pytest

from engine import load_dataset, run
from engine.privacy.events import AboveThresholdEvent


def test_every_round_is_one_charge_and_a_fresh_threshold():
    data = load_dataset("asia", n=20_000, seed=0)
    result = run("svt_pc", data, epsilon=2.0, guarantee="published", seed=1)
    asked = [s for s in result.steps if s.kind == "sparse vector"]
    positive = [s for s in asked if s.decision == "independent"]
    assert all(isinstance(c.event, AboveThresholdEvent) for c in result.ledger)
    # The last round stays unanswered unless the very last query was positive.
    assert len(result.ledger) - len(positive) in (0, 1)
    thresholds = {s.internal["noisy threshold"] for s in asked}
    assert len(thresholds) == len(result.ledger)
    assert len(asked) == result.ci_tests


def test_noise_scales_are_those_of_appendix_b():
    data = load_dataset("cancer", n=10_000, seed=0)
    event = run("svt_pc", data, epsilon=0.7, guarantee="published").ledger[0].event
    # In units of the sensitivity: Lap(2 Delta / epsilon) and Lap(4 Delta / epsilon).
    assert (event.threshold_scale, event.query_scale) == (2 / 0.7, 4 / 0.7)
    strict = run("svt_pc", data, epsilon=1.0, delta=1e-6).ledger[0].event
    assert strict.sensitivity == 1


def test_claimed_is_advanced_composition_of_the_answered_rounds():
    data = load_dataset("asia", n=20_000, seed=0)
    result = run("svt_pc", data, epsilon=0.5, delta=1e-3, guarantee="published", seed=4)
    k = sum(s.decision == "independent" for s in result.steps)
    total = math.sqrt(2 * k * math.log(1e3)) * 0.5 + k * 0.5 * math.expm1(0.5)
    assert result.claimed.epsilon == pytest.approx(total)
    assert result.claimed.delta == 1e-3
