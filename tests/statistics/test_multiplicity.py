"""The step-up rule against its definition, and what it finds where nothing is."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.statistics.multiplicity import FALSE_SHARE, step_up


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30), st.floats(0.01, 0.9))
def test_it_is_the_largest_that_meets_its_own_level(values, share):
    """By brute force over every number of findings."""
    p = np.array(values)
    ranks = range(len(p), 0, -1)
    best = next((k for k in ranks if np.sort(p)[k - 1] <= share * k / len(p)), 0)
    assert step_up(p, share) == (np.sort(p)[best - 1] if best else 0.0)


def test_no_pairs_no_findings():
    assert step_up(np.empty(0)) == 0.0


def test_more_findings_ask_less_of_each():
    alone, among = np.array([0.03, 0.5, 0.6, 0.7]), np.array([0.03, 1e-9, 1e-9, 0.7])
    assert step_up(alone, 0.1) < 0.03
    assert step_up(among, 0.1) == 0.03


@pytest.mark.parametrize("m", [6, 28, 435])
def test_with_nothing_there_it_finds_no_more_than_it_says(m):
    """The mean of 4,000 draws has a standard deviation of .013: four of them above the bound.

    The bound is the mean for large m; a rule at twice the share finds .96 and more.
    """
    rng = np.random.default_rng(m)
    found = []
    for _ in range(4000):
        p = rng.random(m)
        found.append(np.sum(p <= step_up(p)))
    bound = FALSE_SHARE / (1 - FALSE_SHARE) ** 2
    assert np.mean(found) < bound + 0.05
    assert np.mean(np.array(found) > 0) == pytest.approx(FALSE_SHARE, abs=0.03)
