"""Events checked by hand: costs at their edges and the words of a ledger's line."""

import math

import pytest

from engine.privacy import events

# More digits than a line shows, so that each rounding is seen.
WORDS = {
    events.LaplaceEvent(2.34567, 0.567891): "Laplace, sensitivity 2.346, scale 0.5679",
    events.AboveThresholdEvent(1.23456, 2.34567, 4.56789): (
        "Above-threshold, sensitivity 1.235, threshold scale 2.346, query scale 4.568"
    ),
    events.ExponentialEvent(2.0, 1.0, 0.345678): "Exponential mechanism, sensitivity 2, ε 0.6914",
    events.GaussianEvent(0.256789, 3.45678): "Gaussian, ℓ2 sensitivity 0.2568, σ 3.457",
    events.SubsampledGaussianEvent(0.256789, 3.45678, 0.123456): (
        "Gaussian, ℓ2 sensitivity 0.2568, σ 3.457, on a 0.123 sample"
    ),
    events.AnalyticGaussianEvent(1.0, 3.730632, 1.0): (
        "Gaussian, ℓ2 sensitivity 1, σ 3.731: (1, 1e-05)"
    ),
    events.SubsampledEvent(events.LaplaceEvent(1.0, 1.0), 0.567891): (
        "Laplace, sensitivity 1, scale 1, on a 0.568 sample"
    ),
    events.SmoothEvent(0.567891, 1e-6): "Laplace on smooth sensitivity, ε 0.5679, δ 1.2e-06",
    events.ProposeTestReleaseEvent(0.234567, 1e-6, 3): (
        "Propose-test-release, 3 tests and a release of ε 0.2346 each, δ 1.5e-06"
    ),
    events.StableEvent(0.234567, 1.23e-6): "Release if stable, ε 0.2346, δ 1.2e-06",
    events.UndefendedEvent("the seed is known"): "No guarantee: the seed is known",
}


@pytest.mark.parametrize("event", WORDS, ids=lambda e: type(e).__name__)
def test_a_line_of_the_ledger(event):
    assert event.describe() == WORDS[event]


def test_no_sensitivity_costs_nothing_and_no_noise_everything():
    for event in (
        events.LaplaceEvent(0.0, 0.0),
        events.GaussianEvent(0.0, 0.0),
        events.AboveThresholdEvent(0.0, 0.0, 0.0),
        events.AnalyticGaussianEvent(0.0, 0.0, 1.0),
        events.ExponentialEvent(0.0, 1.0, 1.0),
    ):
        assert event.epsilon == event.rho == event.delta == 0
    for event in (
        events.LaplaceEvent(1.0, 0.0),
        events.AboveThresholdEvent(1.0, 0.0, 1.0),
        events.AboveThresholdEvent(1.0, 1.0, 0.0),
        events.GaussianEvent(1.0, 0.0),
        events.UndefendedEvent("raw"),
    ):
        assert event.epsilon == event.rho == math.inf
        assert event.delta == 0


def test_a_delta_is_at_most_1():
    assert events.SmoothEvent(1000.0, 1e-300).delta == pytest.approx(1e-300 * math.exp(500) / 2)
    for event in (events.SmoothEvent(1001.0, 1e-300), events.SmoothEvent(100.0, 1e-6)):
        assert event.delta == 1
    assert events.ProposeTestReleaseEvent(0.2, 0.9, 3).delta == 1


def test_thresholds_are_the_sources():
    """Dwork and Lei 2009: 1 + ln(1 / slack) / step. Dwork and Roth, Algorithm 13: ln(1/d) / e."""
    assert events.ProposeTestReleaseEvent(0.5, 1e-3, 2).threshold == 1 + math.log(1e3) / 0.5
    assert events.StableEvent(0.5, 1e-3).threshold == math.log(1e3) / 0.5
    assert events.ProposeTestReleaseEvent(0.5, 1e-3, 2).length == 1


def test_a_jump_that_is_not_bounded_is_not_defended():
    jumpy = events.StableEvent(0.5, 1e-6, defended=False)
    assert jumpy.epsilon == jumpy.rho == math.inf
    assert events.StableEvent(0.5, 1e-6).epsilon == 0.5


def test_renyi_costs():
    """Sampling only ever takes from order times rho."""
    whole = events.SubsampledGaussianEvent(1.0, 2.0, 1.0)
    sampled = events.SubsampledGaussianEvent(1.0, 2.0, 0.01)
    assert events.renyi(whole, 3.0) == pytest.approx(3 / 8)
    assert 0 < events.renyi(sampled, 3.0) < 0.01 * events.renyi(whole, 3.0) * 5
    assert sampled.rho == whole.rho == pytest.approx(1 / 8)
    assert events.renyi(events.SubsampledGaussianEvent(0.0, 2.0, 0.01), 3.0) == 0
    # a sample of the same noise per record costs the same, whatever the unit
    scaled = events.SubsampledGaussianEvent(10.0, 20.0, 0.01)
    assert events.renyi(scaled, 3.0) == events.renyi(sampled, 3.0)
    # the sampled bound is not the better one where nearly all rows are in the sample
    nearly = events.SubsampledGaussianEvent(1.0, 0.3, 0.999)
    assert events.renyi(nearly, 30.0) <= 30.0 * nearly.rho


def test_a_sample_is_never_taken_for_a_smaller_one():
    """The accountant takes whole rows of 1e9; a part of a row counts as a row."""
    one, two = (events.subsampled_gaussian_renyi(rate, 1.0, 2.0) for rate in (1e-9, 2e-9))
    assert 0 < one < two
    assert events.subsampled_gaussian_renyi(1.5e-9, 1.0, 2.0) == two
    assert events.subsampled_gaussian_renyi(0.5e-9, 1.0, 2.0) == one
