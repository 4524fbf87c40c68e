"""The exact scores that a sieve compares, split by d-separation."""

import numpy as np
import pytest

from engine import load_dataset
from engine.teaching import sieving
from engine.theory import sieve_epsilon


def test_scores_are_split_by_d_separation():
    data = load_dataset("cancer", n=5000, seed=0)
    values, truth = sieving.exact_scores(data, "kendall", "published", "p")
    assert len(values) == len(truth) == len(sieving.queries(5)) == 40
    assert set(truth) == {0.0, 1.0}
    assert np.median(values[truth == 1]) > np.median(values[truth == 0])


def test_the_noise_is_the_papers_at_the_sample():
    """Algorithm 2: Lap(4 Δ / ε') on a query and Lap(2 Δ / ε') on T, whose variances are 2 b²."""
    data = load_dataset("cancer", n=5000)
    query, threshold, sd = sieving.Sieve("kendall", "strict", "z", 0.1, 0.02, 1.0).noise(data, 400)
    unit = 3 / 400**0.5 / sieve_epsilon(1.0, 5000, 400)  # of two binary columns
    assert (query, threshold) == pytest.approx((4 * unit, 2 * unit))
    assert sd == pytest.approx((2 * query**2 + 2 * threshold**2) ** 0.5)
