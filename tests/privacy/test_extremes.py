"""Strict runs at the extremes of every declared parameter; ``scripts/extremes.py`` runs 10^5."""

import numpy as np
import pytest

from scripts.extremes import KEYS, one

RUNS = 8  # for each algorithm


@pytest.mark.filterwarnings("error:::engine")
@pytest.mark.parametrize("key", KEYS)
def test_no_cap_is_passed_and_nothing_crashes(key):
    rng = np.random.default_rng(KEYS.index(key))
    ended = [one(rng, key) for _ in range(RUNS)]
    assert set(ended) <= {"complete", "budget_exhausted", "refused"}
    assert any(how != "refused" for how in ended)
