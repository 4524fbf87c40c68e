"""The step-up rule against its definition."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from engine.statistics.multiplicity import step_up


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30), st.floats(0.01, 0.9))
def test_it_is_the_largest_that_meets_its_own_level(values, share):
    """By brute force over every number of findings."""
    p = np.array(values)
    ranks = range(len(p), 0, -1)
    best = next((k for k in ranks if np.sort(p)[k - 1] <= share * k / len(p)), 0)
    assert step_up(p, share) == (np.sort(p)[best - 1] if best else 0.0)


def test_no_pairs_no_findings():
    assert step_up(np.empty(0)) == 0.0
