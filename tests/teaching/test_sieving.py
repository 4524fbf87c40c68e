"""The exact scores that a sieve compares, split by d-separation."""

from __future__ import annotations

import numpy as np

from engine import load_dataset
from engine.teaching import sieving


def test_scores_are_split_by_d_separation() -> None:
    data = load_dataset("cancer", n=5000, seed=0)
    values, truth = sieving.exact_scores(data, "kendall", "published", "p")
    assert len(values) == len(truth) == len(sieving.queries(5)) == 40
    assert set(truth) == {0.0, 1.0}
    assert np.median(values[truth == 1]) > np.median(values[truth == 0])
