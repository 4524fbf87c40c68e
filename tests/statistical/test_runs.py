"""Whole runs: the noise that they really draw."""

import math

import numpy as np
import pytest
from scipy.stats import norm

from engine import load_dataset, run
from engine.privacy.events import LaplaceEvent
from engine.theory import best_subsample, sieve_epsilon

N = 100_000


def scale_error(noise, scale, *, gaussian=False):
    """How many standard errors the noise's scale estimate lies from ``scale``.

    Laplace: mean |x| estimates b with error b / sqrt(n). Gaussian: the root mean square estimates
    sigma with error sigma / sqrt(2n). Five errors: 6e-7 of right scales fail; 300 draws put a
    scale 30 % off at five errors or beyond.
    """
    x = np.array(noise)
    assert len(x) >= 300
    if gaussian:
        return abs(math.sqrt(np.mean(x**2)) / scale - 1) * math.sqrt(2 * len(x))
    return abs(np.mean(np.abs(x)) / scale - 1) * math.sqrt(len(x))


def check(noise, scale, *, gaussian=False):
    assert scale_error(noise, scale, gaussian=gaussian) < 5
    for factor in (0.7, 1.3):
        wrong = [factor * v for v in noise]
        assert scale_error(wrong, scale, gaussian=gaussian) > 5


def traces(key, count, **options):
    data = load_dataset("earthquake", n=N, seed=0)
    return [run(key, data, seed=seed, **options) for seed in range(count)]


def test_priv_pc_published_noise():
    """Threshold 2S/(sqrt(q) e'), queries twice that, examine 2S/e, with S = Phi(6/sqrt n) - 1/2."""
    epsilon = 1.0
    s = norm.cdf(6 / math.sqrt(N)) - 0.5
    m = best_subsample(epsilon, N)
    inner = sieve_epsilon(epsilon, N, m) * math.sqrt(m / N)
    examine, query, threshold = [], [], {}
    for k, result in enumerate(traces("priv_pc", 80, guarantee="published", epsilon=epsilon)):
        for step in result.steps:
            if step.kind == "examine":
                examine.append(step.value - step.internal["exact"])
            elif step.kind == "sieve":
                query.append(step.internal["noisy value"] - step.internal["exact"])
                noisy = step.internal["noisy threshold"]
                threshold[k, round(noisy, 12)] = noisy - (0.10 - 0.02)
    check(examine, 2 * s / epsilon)
    check(query, 4 * s / inner)
    check(list(threshold.values()), 2 * s / inner)


def test_svt_pc_published_noise():
    """Threshold Lap(2S/e), queries Lap(4S/e)."""
    s, query, threshold = norm.cdf(6 / math.sqrt(N)) - 0.5, [], {}
    for k, result in enumerate(traces("svt_pc", 80, guarantee="published", epsilon=1.0)):
        for step in result.steps:
            query.append(step.internal["noisy value"] - step.internal["exact"])
            noisy = step.internal["noisy threshold"]
            threshold[k, round(noisy, 12)] = noisy - 0.10
    check(query, 4 * s)
    check(list(threshold.values()), 2 * s)


@pytest.mark.parametrize("key", ["curate_pc", "gauss_pc"])
@pytest.mark.parametrize("guarantee", ["strict", "published"])
def test_each_released_value_has_the_noise_its_charge_states(key, guarantee):
    """In units of the scale that the step's own charge states."""
    units = []
    for result in traces(key, 30, guarantee=guarantee, epsilon=3.0):
        for step in result.steps:
            if step.kind != "test":
                continue
            event = step.charges[-1].event
            scale = event.scale if isinstance(event, LaplaceEvent) else event.sigma
            units.append((step.value - step.internal["exact"]) / scale)
    check(units, 1.0, gaussian=key == "gauss_pc")
