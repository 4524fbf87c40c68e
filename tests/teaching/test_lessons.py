"""The mathematics of the lesson: one noisy test, neighbours, the counterexample."""

import math
from collections import Counter

import numpy as np
import pytest

from engine import InputError, load_dataset, run
from engine.data.dataset import Dataset
from engine.story import steps
from engine.teaching.lessons import NoisyTest, noisy_test, query
from engine.teaching.neighbours import counterexample, farthest, guess_bound, moves
from engine.teaching.replay import scenes

ASIA = load_dataset("asia", n=5_000)
Q = query(ASIA, "smoke", "bronc")


def test_scenes_end_in_the_runs_skeleton():
    for key in ("pc", "priv_pc"):
        result = run(key, ASIA, seed=2)
        played = list(scenes(result.steps))
        gone = [frozenset(pair) for _, pair, removed in played if removed]
        assert set(gone).isdisjoint(result.skeleton)
        assert len(gone) == len(set(gone)) == 28 - len(result.skeleton)
        counts = Counter(step.order for step, _, _ in played)
        assert [counts[k] for k in sorted(counts)] == list(result.ci_tests_by_order)


def test_the_chance_of_a_flip_is_the_mechanisms():
    assert noisy_test(ASIA, Q, 1e6).removed == 0
    assert noisy_test(ASIA, Q, 1e-6).removed == pytest.approx(0.5, abs=0.01)
    # Compared with the released values themselves: 30 % more or less noise would be seen.
    pair = farthest(ASIA, query(ASIA, "asia", "smoke"), 0.3)
    test = noisy_test(ASIA, pair.q, 0.3)
    drawn = np.array([pair.drawn(0, seed) for seed in range(4000)])
    assert (drawn < test.level).mean() == pytest.approx(test.removed, abs=3 * 0.5 / 4000**0.5)
    # The mean of |Laplace| is its scale.
    assert abs(drawn - test.exact).mean() == pytest.approx(test.scale, rel=0.06)


def test_neighbours_differ_in_one_row_and_stay_within_the_sensitivity():
    for q in (Q, query(ASIA, "smoke", "dysp", ["bronc"])):
        found, sensitivity = farthest(ASIA, q, 1.0), moves(ASIA, q).sensitivity
        codes = found.pair.data.codes, found.pair.other.codes
        assert np.flatnonzero((codes[0] != codes[1]).any(axis=1)).tolist() == [found.pair.row]
        assert 0.3 * sensitivity < abs(found.exact[0] - found.exact[1]) <= sensitivity
        changed = codes[0][found.pair.row] != codes[1][found.pair.row]
        assert {ASIA.names[c] for c in np.flatnonzero(changed)} == set(found.before)
        assert set(found.before) == set(found.after)


def test_guesses_never_pass_the_bound_and_nearly_reach_it():
    """Two Laplace densities of scale b at a distance D overlap in e^(-D / 2b)."""
    found = farthest(ASIA, Q, 2.0)
    low, high = sorted(found.exact)
    noisy = [[found.drawn(which, seed) for seed in range(3000)] for which in (0, 1)]
    sides = noisy if found.exact[0] == low else noisy[::-1]
    middle = (low + high) / 2
    share = (np.mean(np.array(sides[0]) < middle) + np.mean(np.array(sides[1]) > middle)) / 2
    scale = moves(ASIA, Q).sensitivity / 2.0
    assert share == pytest.approx(1 - math.exp(-(high - low) / (2 * scale)) / 2, abs=0.02)
    assert 0.5 < share <= guess_bound(2.0) + 0.02
    for epsilon, delta, bound in (
        (0.0, 0.0, 0.5),
        (1.0, 0.0, math.e / (1 + math.e)),
        (math.inf, 0.0, 1.0),
        (0.0, 0.1, 0.55),
    ):
        assert guess_bound(epsilon, delta) == pytest.approx(bound)


def test_exact_scores_are_of_public_data_alone():
    data = Dataset.from_codes([[0, 1], [1, 0], [1, 1], [0, 0]] * 20)
    with pytest.raises(InputError, match="public data"):
        farthest(data, query(data, "X0", "X1"), 1.0)


def test_the_published_bound_fails_by_one_record():
    found = counterexample()
    assert (found.rest[0].sum(), found.rest[1].sum(), found.rest.size) == (39, 49_960, 8)
    assert found.p[0] == pytest.approx(1.6e-6, rel=0.05)
    assert found.p[1] == pytest.approx(0.452, abs=0.001)
    change = abs(found.p[0] - found.p[1])
    assert all(change > 40 * claim for claim in found.claims.values())
    by_cell = {place.cell: place for place in found.places}
    assert len(by_cell) == found.rest.size
    assert (by_cell[0, 1, 1].p, by_cell[1, 1, 0].p) == found.p
    bound = found.bound * (1 + 1e-9)
    assert all(abs(place.z - by_cell[0, 1, 1].z) <= bound for place in found.places)


def test_of_two_hundred_noisy_answers_as_many_are_wrong_as_the_noise_makes():
    """Of the Laplace distribution's tails: beyond T, and beyond what the picture holds."""
    drawn = steps._pile(NoisyTest(exact=0.0, level=math.log(2), sensitivity=1.0, epsilon=1.0))
    outside = 0.06**1.1  # 1.1 times the quantiles .03 and .97
    wrong, right = (drawn.count(f"var(--{ink})") for ink in ("false_positive", "found"))
    assert wrong == pytest.approx(200 * (1 / 4 - outside / 2), abs=0.6)
    assert wrong + right == 2 * round(100 * (1 - outside))  # as many on either side
