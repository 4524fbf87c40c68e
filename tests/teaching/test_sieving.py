"""The sieve's errors against a closed form, and scores split by d-separation."""

from __future__ import annotations

import math

import numpy as np
import pytest

from engine import load_dataset
from engine.teaching import sieving


def test_observed_rates_meet_the_closed_form() -> None:
    n, m, epsilon, unit = 100_000, 20_000, 1.0, 0.004
    lost, _ = sieving.observed(0.03, 0.02, epsilon, n, m, (unit, unit))
    a, b = sieving.noise_scales(epsilon, n, m, unit)
    x = 0.05
    tail = (a * a * math.exp(-x / a) - b * b * math.exp(-x / b)) / (2 * (a * a - b * b))
    assert lost == pytest.approx(tail, abs=3 / math.sqrt(sieving.DRAWS))

    data = load_dataset("cancer", n=5000, seed=0)
    values, truth = sieving.exact_scores(data, "kendall", "published", "p")
    assert len(values) == len(truth) == len(sieving.queries(5)) == 40
    assert set(truth) == {0.0, 1.0}
    assert np.median(values[truth == 1]) > np.median(values[truth == 0])
