"""The answers about pairs that a run releases as numbers: they may be used again for free."""

from functools import cache

import pytest

from engine import Dataset, load_dataset, run

# In the order of research/directions.md. A plan and a count are no values of a pair.
VALUED = {
    "gauss_pc": {"test"},
    "curate_pc": {"test"},
    "priv_pc": {"examine"},
    "svt_pc": set(),
    "em_pc": set(),
}


@cache
def asia():
    return load_dataset("asia", n=3000, seed=4)


@pytest.mark.parametrize("key", list(VALUED))
def test_who_gives_out_a_value_of_a_pair(key):
    """And each value was charged for by its own step; a comparison alone has none."""
    steps = [step for step in run(key, asia(), epsilon=5.0, seed=1).steps if step.x is not None]
    assert steps
    assert {step.kind for step in steps if step.value is not None} == VALUED[key]
    for step in steps:
        assert step.value is None or step.charges


@pytest.mark.parametrize("key", ["priv_pc", "svt_pc"])
def test_a_comparison_shows_its_noisy_value_on_public_data_alone(key):
    kind = {"priv_pc": "sieve", "svt_pc": "sparse vector"}[key]
    for public in (True, False):
        data = Dataset.from_codes(asia().codes, asia().names, asia().levels, public=public)
        steps = [s for s in run(key, data, epsilon=5.0, seed=1).steps if s.kind == kind]
        assert steps
        assert all((s.internal is not None) == public for s in steps)
