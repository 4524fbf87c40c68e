"""The tracing attack on released tables stays within its limits and finds members without noise."""

import numpy as np
import pytest

from engine import InputError, load_dataset
from engine.audit.tracing import FALSE_POSITIVES, POOLS, tracing
from engine.data.pairs import simulate_pair

MEMBERS = 100


@pytest.mark.parametrize("name", ["asia", "sachs"])
def test_noise_hides_members_and_nothing_exceeds_its_limit(name):
    data = load_dataset(name, n=4 * MEMBERS * POOLS)
    exact, private = (tracing(data, MEMBERS, epsilon) for epsilon in (None, 1.0))
    assert exact.parameters == {"asia": 18, "sachs": 178}[name]
    error = 3 * np.sqrt(0.25 / (MEMBERS * POOLS))
    for found in (exact, private):
        assert np.all(np.array(found.measured) <= np.array(found.claimed) + error)
    at = FALSE_POSITIVES.index(0.1)
    assert exact.measured[at] > 0.1 + 2 * error > private.measured[at]
    assert exact.measured[at] > 0.5 * exact.claimed[at]  # rare cells leave a part of it


def test_more_members_are_harder_to_trace():
    data = load_dataset("asia", n=40_000)
    few, many = (tracing(data, members).measured[3] for members in (20, 200))
    assert few > many


@pytest.mark.parametrize(
    "data", [load_dataset("asia", n=1_000), simulate_pair("cubic", n=500)], ids=["few", "pair"]
)
def test_too_few_rows_are_refused_in_a_sentence(data):
    with pytest.raises(InputError, match=r"at least 16,000 rows"):
        tracing(data, MEMBERS)
