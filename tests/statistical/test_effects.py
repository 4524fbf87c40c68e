"""Intervals of effects have their stated level, and lose it if they ignore the noise."""

import math

import numpy as np
import pytest

from engine import load_dataset
from engine.algorithms import marginal_pc
from engine.algorithms.marginal_pc import MarginalPCParameters
from engine.context import RunContext
from engine.effects.adjustment import adjustment_set
from engine.effects.estimate import Z95, estimate, rare_arms
from engine.graphs.cpdag import matrix_of
from engine.graphs.orientation import reachable
from engine.randomness import Randomness
from tests.effects.models import event, from_table, population

PAIRS = [("Smoker", "Cancer"), ("Pollution", "Cancer"), ("Smoker", "Xray"), ("Cancer", "Dyspnoea"),
         ("Pollution", "Xray"), ("Xray", "Dyspnoea")]  # fmt: skip
DRAWS = 30


@pytest.mark.slow
def test_intervals_hold_what_they_are_called_only_because_they_know_the_noise():
    """Cancer, n = 50,000, ε = .1, true graph given: .95 of 180 intervals, and far fewer without.

    Intervals of one release go together: counted as 30 independent draws, .87 is two deviations
    below .95.
    """
    whole, alone, params = [], [], MarginalPCParameters(epsilon=0.1, delta=1e-6)
    for draw in range(DRAWS):
        data = load_dataset("cancer", n=50_000, seed=1000 + draw)
        assert data.truth is not None
        context = RunContext(Randomness(2000 + draw), marginal_pc.ledger(data, params), data.names)
        moments = marginal_pc.release(data, params, context).tests.moments
        graph = matrix_of(data.truth, data.names)
        for cause, effect in PAIRS:
            x, y = data.names.index(cause), data.names.index(effect)
            chosen = adjustment_set(graph, reachable(graph), x, y)
            asked = event(moments, x, y, 0)
            found, target = (estimate(m, asked, chosen) for m in (moments, population("cancer")))
            assert found is not None
            assert target is not None
            true, told = target.difference.value, found.difference
            whole.append(told.low <= true <= told.high)
            sampling = found.sampling
            spread = Z95 * math.sqrt(sampling[0, 0] + sampling[1, 1] - 2 * sampling[0, 1])
            alone.append(abs(told.value - true) <= spread)
    assert np.mean(whole) >= 0.87
    assert np.mean(alone) < 0.75


def test_the_sampling_of_means_is_the_spread_of_what_each_cell_moves():
    """By differences, where no three columns interact: the pairs fit the cells exactly."""
    x, y, z = np.indices((2, 2, 2))
    cells = np.exp(1.6 * (x == z) + 1.2 * (y == z) + 0.7 * (x == y) - 2.0 * y)
    cells /= cells.sum()

    def estimated(table):
        moments = from_table(table)
        moments.higher.clear()
        asked = event(moments, 0, 1, 1)
        return estimate(moments, asked, (2,)), rare_arms(moments, asked)

    found, rare = estimated(cells)
    total = np.zeros((2, 2))
    for cell in np.ndindex(cells.shape):
        step = -1e-6 * cells
        step[cell] += 1e-6
        moved = (estimated(cells + step)[0].means - estimated(cells - step)[0].means) / 2e-6
        total += cells[cell] * np.outer(moved, moved)
    assert found.sampling - np.diag(rare) == pytest.approx(total / 1_000_000, rel=1e-5)
