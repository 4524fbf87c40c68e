"""The bound of runs whose outputs are written down by hand: every number in it can be told."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import beta

from engine.audit import measure
from engine.audit.measure import (
    CONFIDENCE,
    Features,
    Measured,
    Region,
    Trial,
    bound_of,
    choose,
    directions,
    limits,
    matrix,
    trial,
)
from engine.audit.neighbours import all_alike
from engine.audit.toys import MECHANISMS
from engine.privacy.accounting import Guarantee


def trial_of(a: list[Features], b: list[Features], claim: Guarantee) -> Trial:
    """A trial whose runs are over: no algorithm is asked."""
    nothing: Any = None
    return Trial(nothing, nothing, nothing, sides=(a, b), claim=claim)


def side(happens: int, runs: int = 800) -> list[Features]:
    """Runs of which ``happens`` in 100 let out a decision, evenly in both parts of the runs."""
    return [{("decision", k): 1.0 for k in (0,) if (i // 4) % 100 < happens} for i in range(runs)]


def exact_bound(more: int, less: int, runs: int, delta: float) -> float:
    """Clopper-Pearson at 99 % for both limits together, by scipy's own quantiles."""
    low = beta.ppf(0.005, more, runs - more + 1)
    high = beta.ppf(0.995, less + 1, runs - less)
    return math.log((low - delta) / high)


@pytest.mark.parametrize("turned", [False, True])
def test_the_bound_is_one_of_99_percent(turned: bool) -> None:
    """60 and 10 in 100: 600 of the 800 runs a side count, and the others choose the event."""
    sides = [side(60), side(10)]
    growing = trial_of(*(sides[::-1] if turned else sides), Guarantee(1.0, 1e-3))
    found = growing.measured()
    assert (found.runs, found.counted) == (800, 600)
    assert found.epsilon == pytest.approx(exact_bound(360, 60, 600, 1e-3), rel=1e-12)
    assert found.hits == ((60, 360) if turned else (360, 60))
    assert found.claimed == 1.0
    assert found.refuted
    assert CONFIDENCE == 0.99


def test_only_the_runs_asked_for_are_read() -> None:
    growing = trial_of(side(60), side(10), Guarantee(1.0, 0.0))
    assert growing.measured(400).counted == 300
    assert growing.measured(400).runs == 400
    assert growing.measured(400).epsilon < growing.measured().epsilon
    assert growing.measured(0) == Measured(0.0, 0.0, 1.0, 0, 0, (0, 0))


def test_the_runs_that_choose_are_not_counted() -> None:
    """An event that happens in choosing runs alone is worth nothing; so is one that never shows."""
    chosen = [{("edge", 0): 1.0} if i % 4 == 0 else {} for i in range(400)]
    nothing: list[Features] = [{} for _ in range(400)]
    found = trial_of(chosen, nothing, Guarantee(1.0, 0.0)).measured()
    assert found.hits == (0, 0)
    assert found.epsilon == 0
    counted = [{("edge", 0): 1.0} if i % 4 else {} for i in range(400)]
    assert trial_of(counted, nothing, Guarantee(1.0, 0.0)).measured().hits == (0, 0)


def test_a_bound_at_the_claim_refutes_nothing() -> None:
    line = Measured(1.0, 0.0, 1.0, 10, 8, (1, 2))
    assert not line.refuted
    assert Measured(math.nextafter(1.0, 2), 0.0, 1.0, 10, 8, (1, 2)).refuted


def test_the_chance_of_a_bound_above_the_truth_is_below_one_percent() -> None:
    """Every pair of counts of 60 runs, by its probability: at no true epsilon more than 1 %."""
    runs = 60
    level = (1 - CONFIDENCE) / 2
    bounds = np.array(
        [[bound_of(i, j, runs, 0.0, level) for j in range(runs + 1)] for i in range(runs + 1)]
    )
    from scipy.stats import binom

    worst = 0.0
    for p in (0.2, 0.5, 0.8, 0.95):
        for q in (0.02, 0.1, 0.19):
            mass = np.outer(binom.pmf(range(61), runs, p), binom.pmf(range(61), runs, q))
            worst = max(worst, float(mass[bounds > math.log(p / q)].sum()))
    assert 1e-4 < worst <= 0.01


def test_limits_at_the_ends_are_no_quantiles() -> None:
    assert limits(0, 50, 0.005)[0] == 0
    assert limits(50, 50, 0.005)[1] == 1
    assert 0 < limits(1, 50, 0.005)[0] < limits(1, 50, 0.005)[1] < 1
    assert 0 < limits(49, 50, 0.005)[0] < limits(49, 50, 0.005)[1] < 1


def test_delta_is_taken_from_the_likelier_side() -> None:
    low, high = limits(90, 100, 0.005)[0], limits(10, 100, 0.005)[1]
    assert bound_of(90, 10, 100, 0.1, 0.005) == pytest.approx(math.log((low - 0.1) / high))
    assert bound_of(90, 10, 100, low - high, 0.005) == 0
    assert bound_of(90, 10, 100, 0.99, 0.005) == 0


def test_outputs_become_rows_of_numbers() -> None:
    a, b = matrix([[{("x",): 2.0}, {}], [{("y",): -3.0, ("x",): 1.0}]])
    assert a.tolist() == [[2.0, 0.0], [0.0, 0.0]]
    assert b.tolist() == [[1.0, -3.0]]


def test_directions_are_the_outputs_that_move_and_their_discriminant() -> None:
    """Two outputs move by 1 and 3 standard deviations, a third not at all."""
    rng = np.random.default_rng(0)
    a = rng.normal(size=(4_000, 3))
    b = rng.normal(size=(4_000, 3)) + np.array([1.0, 3.0, 0.0])
    a[:, 2] = b[:, 2] = 7.0
    found = directions(a, b)
    assert [d.tolist() for d in found[:2]] == [[0, 1, 0], [1, 0, 0]]
    fisher = found[-1]
    assert len(found) == 3
    assert fisher[2] == 0
    assert fisher[1] / fisher[0] == pytest.approx(3, rel=0.1)  # equal spreads: as the gaps
    assert len(directions(np.zeros((4, 30)), np.eye(4, 30) + 1)) == measure.BEST_SINGLE + 1
    assert directions(np.ones((4, 2)), np.ones((4, 2))) == []


def test_the_event_chosen_is_the_one_with_the_largest_bound() -> None:
    """Output 0 separates the sides at 0.5, output 1 does not at all."""
    rng = np.random.default_rng(1)
    a = np.column_stack([np.zeros(200), rng.normal(size=200)])
    b = np.column_stack([np.ones(200), rng.normal(size=200)])
    b[:4, 0] = 0.0
    event, on_b = choose(a, b, 0.0) or pytest.fail("no event was found")
    counts = int(event.holds(a).sum()), int(event.holds(b).sum())
    best = bound_of(196, 0, 200, 0.0, 0.005)  # of b alone, above what all of a have
    assert bound_of(max(counts), min(counts), 200, 0.0, 0.005) == best
    assert on_b == (counts[1] > counts[0])
    assert choose(a, a, 0.0) is None


def test_an_event_is_strictly_above_its_cut() -> None:
    rows = np.array([[1.0], [2.0], [3.0]])
    direction = np.array([1.0])
    assert Region(direction, 2.0, 1.0).holds(rows).tolist() == [False, False, True]
    assert Region(direction, -2.0, -1.0).holds(rows).tolist() == [True, False, False]


def test_outputs_are_told_apart_in_units_of_their_own_spread() -> None:
    """In hundredths: the second moves by 3 of its standard deviations, the first by 1."""
    rng = np.random.default_rng(2)
    a, b = rng.normal(scale=0.01, size=(2, 4_000, 2))
    found = directions(a, b + np.array([0.01, 0.03]))
    assert [d.tolist() for d in found[:2]] == [[0, 1], [1, 0]]


def test_a_cut_lies_in_the_middle() -> None:
    event, on_b = choose(np.zeros((50, 1)), np.ones((50, 1)), 0.0) or pytest.fail("no event")
    assert on_b
    assert abs(event.cut) == 0.5 * abs(event.direction[0])


def test_all_noise_is_drawn_unless_a_fault_is_planted() -> None:
    """A run as it is has the numbers of a share of 1, and half of the noise has others."""
    chosen, pair = MECHANISMS["by_laplace"], all_alike()
    plain = trial(chosen, pair, {})
    shares = [trial(chosen, pair, {}, share=share) for share in (1.0, 0.5)]
    for each in (plain, *shares):
        each.extend(3)
    assert plain.sides == shares[0].sides != shares[1].sides
    made = Trial(chosen, plain.params, pair)
    made.extend(3)
    assert made.sides == plain.sides
    assert measure.one_run(chosen, pair.data, plain.params, 0)[0] == plain.sides[0][0]


def test_how_many_steps_there_were_is_an_output() -> None:
    plain = trial(MECHANISMS["by_laplace"], all_alike(), {})
    plain.extend(1)
    features = plain.sides[0][0]
    values = [key for key in features if key[0] == "value"]
    assert features["steps",] >= len(values) > 0
