"""The mathematics of the guided tour: scenes, one noisy test, neighbours, the counterexample."""

from __future__ import annotations

import math

import numpy as np
import pytest

from engine import InputError, load_dataset, run
from engine.data.dataset import Dataset
from engine.teaching.lessons import laplace_below, noisy_test, query, strengths
from engine.teaching.neighbours import (
    counterexample,
    farthest,
    guess_bound,
    one_record_apart,
    places,
)
from engine.teaching.replay import by_order, scenes

ASIA = load_dataset("asia", n=5_000)
Q = query(ASIA, "smoke", "bronc")


@pytest.mark.parametrize("key", ["pc", "priv_pc"])
def test_scenes_end_in_the_runs_skeleton(key: str) -> None:
    result = run(key, ASIA, seed=2)
    played = list(scenes(result.steps, ASIA.names))
    gone = {frozenset((s.x, s.y)) for s in played if s.removed}
    assert gone.isdisjoint(result.skeleton)
    assert len(gone) + len(result.skeleton) == 28
    assert played[-1].links == len(result.skeleton)
    counts = by_order(played)
    assert sum(c.removed for c in counts) == len(gone)
    assert [sum(c.kinds.values()) for c in counts] == list(result.ci_tests_by_order)
    assert sum(s.first for s in played) == len(counts)


def test_the_chance_of_a_flip_is_the_mechanisms() -> None:
    near = noisy_test(ASIA, query(ASIA, "asia", "tub"), 0.5)
    assert near.flipped == pytest.approx(near.removed if not near.right else 1 - near.removed)
    assert noisy_test(ASIA, Q, 1e6).removed == 0
    assert noisy_test(ASIA, Q, 1e-6).removed == pytest.approx(0.5, abs=0.01)
    # Against the released values themselves: 30 % more or less noise would be seen.
    pair = farthest(ASIA, query(ASIA, "asia", "smoke"), 0.3)
    test = noisy_test(ASIA, pair.q, 0.3)
    below = np.mean([pair.drawn(0, seed) < test.level for seed in range(4000)])
    assert below == pytest.approx(test.removed, abs=3 * math.sqrt(0.25 / 4000))
    spread = np.mean([abs(pair.drawn(0, seed) - test.exact) for seed in range(4000)])
    assert spread == pytest.approx(test.scale, rel=0.06)  # the mean of |Laplace| is its scale
    assert laplace_below(0.0, 1.0) == 0.5


def test_neighbours_differ_in_one_row_and_stay_within_the_sensitivity() -> None:
    for q in (Q, query(ASIA, "smoke", "dysp", ["bronc"])):
        pair = farthest(ASIA, q, 1.0)
        differing = (pair.data.codes != pair.other.codes).any(axis=1)
        assert differing.sum() == 1
        assert np.flatnonzero(differing)[0] == pair.row
        gap = abs(pair.exact[0] - pair.exact[1])
        assert 0.3 * pair.sensitivity < gap <= pair.sensitivity
        changed = pair.data.codes[pair.row] != pair.other.codes[pair.row]
        assert {ASIA.names[c] for c in np.flatnonzero(changed)} == set(pair.before)
        assert set(pair.before) == set(pair.after)


def test_guesses_reach_what_is_computed_and_never_the_bound() -> None:
    pair = farthest(ASIA, Q, 2.0)
    right = [
        pair.likelier(pair.drawn(which, seed)) == which for seed in range(3000) for which in (0, 1)
    ]
    share = float(np.mean(right))
    assert share == pytest.approx(pair.best, abs=0.02)
    assert pair.best <= guess_bound(2.0)
    for epsilon in (0.01, 1.0, 5.0):
        assert 0.5 < pair.at(epsilon).best <= guess_bound(epsilon)
    assert guess_bound(0) == 0.5
    assert guess_bound(1) == pytest.approx(math.e / (1 + math.e))


def test_the_published_bound_fails_by_one_record() -> None:
    found = counterexample()
    a, b = one_record_apart()
    assert int(np.abs(a - b).sum()) == 2  # one record left a cell and joined another
    assert (a[0].sum(), a[1].sum()) == (40, 49_960)
    assert found.p[0] == pytest.approx(1.6e-6, rel=0.05)
    assert found.p[1] == pytest.approx(0.452, abs=0.001)
    change = abs(found.p[0] - found.p[1])
    assert all(change > 40 * claim for claim in found.claims.values())
    assert abs(found.z[0] - found.z[1]) <= found.bound


def test_later_orders_are_poorer_on_asia() -> None:
    perfect = run("pc", ASIA, statistic="oracle")
    lines = strengths(ASIA, perfect.steps, 0.1)
    assert [line.order for line in lines] == list(range(len(perfect.ci_tests_by_order)))
    assert [line.tests for line in lines] == list(perfect.ci_tests_by_order)
    assert lines[0].margin > lines[1].margin


def test_own_data_show_no_exact_score() -> None:
    data = Dataset.from_codes([[0, 1], [1, 0], [1, 1], [0, 0]] * 20)
    with pytest.raises(InputError, match="public data"):
        farthest(data, query(data, "X0", "X1"), 1.0)


def test_every_place_of_the_one_record_has_the_scores_of_its_table() -> None:
    rest, found = places(40, 49_960)
    whole = counterexample(40, 49_960)
    by_cell = {place.cell: place for place in found}
    assert rest.sum() == 49_999
    assert len(by_cell) == rest.size
    for cell, k in (((0, 1, 1), 0), ((1, 1, 0), 1)):
        assert (by_cell[cell].p, by_cell[cell].z) == (whole.p[k], whole.z[k])
    bound = whole.bound * (1 + 1e-9)
    assert all(abs(place.z - whole.z[0]) <= bound for place in found)
    assert max(abs(place.p - whole.p[0]) for place in found) > 0.45
