"""Repetitions: counts, the usual range, and none on a person's own data."""

import pytest

from engine import InputError, load_dataset, run
from engine.data.dataset import Dataset
from engine.studies.repeat import around, point, repeated, usual


def test_each_repetition_is_the_run_with_that_seed():
    data = load_dataset("asia", n=5000)
    params = {"epsilon": 1.0}
    outcomes = list(repeated("priv_pc", data, params, range(12)))
    assert any(o.counts.untested for o in outcomes)
    for seed, outcome in enumerate(outcomes):
        alone = run("priv_pc", data, seed=seed, **params)
        assert (outcome.matrix == alone.tested).all()  # a pair not tested to the end is no link
        assert outcome.counts == alone.counts
        assert outcome.counts.true == 8  # Asia's links
        assert outcome.counts.learned + outcome.counts.untested == len(alone.skeleton)
    assert len({o.matrix.tobytes() for o in outcomes}) > 1  # every repetition draws its noise


def test_own_data_are_never_repeated_and_what_is_stopped_is_left_out():
    data = Dataset.from_codes([[0, 1], [1, 0], [1, 1], [0, 0]] * 20)
    with pytest.raises(InputError, match="spend budget"):
        next(repeated("priv_pc", data, {}, range(3)))

    data = load_dataset("cancer", n=2000)
    assert list(repeated("priv_pc", data, {}, range(3), cancelled=lambda: True)) == []


@pytest.mark.parametrize(
    ("counts", "want"),
    [
        ([3] * 10, (3, 3, 10, 10)),
        ([0, 6, 6, 7, 7, 7, 8, 8, 8, 8], (6, 8, 9, 10)),
        ([1, 2, 3, 4, 5, 6, 7, 8, 9, 10], (1, 9, 9, 10)),
        ([5], (5, 5, 1, 1)),
    ],
)
def test_usual_is_the_shortest_range_with_nine_tenths(counts, want):
    found = usual(counts)
    assert (found.low, found.high, found.inside, found.of) == want
    assert usual(counts[::-1]) == found


def test_points_lie_around_the_epsilon_of_the_run():
    values = around(0.37)
    assert values[4] == 0.37
    assert (values[0], values[-1]) == (0.0037, 37.0)
    assert list(values) == sorted(values)
    data = load_dataset("cancer", n=2000)
    one = point(3.0, list(repeated("priv_pc", data, {"epsilon": 3.0}, range(5))))
    assert (one.of, sorted(one.found)) == (5, list(one.found))
