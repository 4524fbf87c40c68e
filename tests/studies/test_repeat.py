"""The usual range of repetitions, and a curve's points."""

from types import SimpleNamespace

import pytest

from engine import load_dataset, sweep
from engine.studies.repeat import around, point, usual


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
    one = point(3.0, list(sweep(data, "priv_pc", {"epsilon": 3.0}, 5)))
    assert (one.of, sorted(one.found)) == (5, list(one.found))


def test_a_point_is_the_middle_and_the_ends_of_its_repetitions():
    """Of 21 in order the 2nd, the 11th and the 20th."""
    outcomes = [
        SimpleNamespace(
            counts=SimpleNamespace(
                found=k, false_positives=2 * k, scores=SimpleNamespace(skeleton_f1=k / 20)
            )
        )
        for k in range(21)
    ]
    one = point(1.0, outcomes)
    assert one.found == pytest.approx((1, 10, 19))
    assert one.false_positives == pytest.approx((2, 20, 38))
    assert one.f1 == pytest.approx((0.05, 0.5, 0.95))
    assert one.of == 21
