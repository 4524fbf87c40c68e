"""Score-based CURATE: Lemma 2, the increments, and both guarantees."""

import math
from itertools import pairwise

import numpy as np
import pytest

from engine import load_dataset, run
from engine.errors import InputError
from engine.privacy.accounting import rho_budget
from engine.score.budgets import INCREMENTS, initial_for, iterations, schedule

# research/known-answers.md: floors for (total, initial) under add / exp / mul.
COUNTS = {(1, 0.1): (7, 3, 24), (10, 0.01): (667, 367, 4649), (100, 2): (33, 18, 35)}


@pytest.mark.parametrize(("total", "initial"), COUNTS)
def test_lemma_2(total, initial):
    found = tuple(
        iterations(total, initial, kind) for kind in ("additive", "exponential", "multiplicative")
    )
    assert found == COUNTS[total, initial]


@pytest.mark.parametrize("increment", INCREMENTS)
@pytest.mark.parametrize(("total", "initial"), [(1, 0.1), (0.1, 0.002), (10, 0.01), (100, 2)])
def test_schedule_keeps_the_total_and_uses_it(total, initial, increment):
    count = iterations(total, initial, increment)
    spent = sum(schedule(initial, count, increment))
    assert spent <= total * (1 + 1e-9)
    if increment == "exponential":  # the paper's form is conservative: e / (e - 1), and a floor
        assert spent >= total / 2.5
    else:  # one more would not fit
        assert sum(schedule(initial, count + 1, increment)) > total


def test_which_schedules_rise():
    def rises(initial, increment):
        steps = schedule(initial, 20, increment)
        return all(b > a for a, b in pairwise(steps))

    for increment in ("additive", "exponential", "rising"):
        assert rises(0.1, increment)
        assert rises(2.0, increment)
    assert rises(2.0, "multiplicative")
    published = schedule(0.1, 20, "multiplicative")
    assert all(b < a for a, b in pairwise(published))
    assert published[10] == pytest.approx(0.1**1.5)
    for increment, half in (("additive", 1.5), ("exponential", math.e**0.5)):
        assert schedule(0.1, 20, increment)[10] == pytest.approx(0.1 * half)


@pytest.mark.parametrize("increment", INCREMENTS)
@pytest.mark.parametrize("total", [1e-6, 0.1, 1.0, 10.0, 1e4, 1e7])
def test_automatic_start_affords_200(total, increment):
    initial = initial_for(total, increment)
    assert iterations(total, initial, increment) in (199, 200)


def test_unaffordable_start_is_refused():
    with pytest.raises(InputError, match="lower the initial"):
        run("curate_notears", load_dataset("asia", n=100), epsilon=0.1, initial=0.5)


@pytest.mark.parametrize("increment", INCREMENTS)
@pytest.mark.parametrize("epsilon", [0.05, 1.0, 20.0])
def test_strict_cap(increment, epsilon):
    data = load_dataset("cancer", n=2_000)
    initial = epsilon / 20
    result = run("curate_notears", data, epsilon=epsilon, initial=initial, increment=increment)
    gradients = [c for c in result.ledger if c.label == "gradient"]
    assert len(gradients) == iterations(epsilon, initial, increment)
    used = sum(c.rho for c in result.ledger)
    assert used <= rho_budget(epsilon, 1e-6) * (1 + 1e-9)
    assert used == pytest.approx(rho_budget(epsilon, 1e-6), rel=1e-6)
    assert (result.proven.epsilon, result.proven.delta) == (epsilon, 1e-6)
    assert result.claimed is None
    # rho follows epsilon_k^2
    plan = np.square(result.diagnostics.planned_epsilon)
    np.testing.assert_allclose([c.rho for c in gradients] / plan, gradients[0].rho / plan[0])
