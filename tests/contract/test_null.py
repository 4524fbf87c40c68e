"""Where nothing is, an algorithm that is ours invents next to nothing."""

import numpy as np
import pytest

from engine import ALGORITHMS
from engine.algorithms import gram_notears
from engine.marginals.citest import NoisyTests
from engine.studies.detectability import Shape
from engine.studies.repeat import invented
from tests.contract.conftest import short

# The one that chooses makes the chosen one's run (tests/algorithms/test_auto.py).
OURS = [key for key, a in ALGORITHMS.items() if a.ours and not a.chooses]
MOST = 0.5  # links a run
DRAWS = 60
# Few rows, many, rare columns, several levels: levels of each column, rows, epsilon, margins.
CASES = [
    ((2,) * 6, 3_000, 0.1, (0.5, 0.3, 0.1, 0.4)),
    ((2,) * 8, 3_000, 1.0, (0.5, 0.3, 0.1, 0.02)),
    ((2,) * 8, 20_000, 0.02, (0.02,)),
    ((2, 3, 4) * 3, 1_000, 10.0, (0.5, 0.1)),
    ((2,) * 8, 1_000, 10.0, (0.5, 0.1, 0.02, 0.01)),
]


def links(key, case, draws=DRAWS):
    """Mean number of links a run."""
    levels, rows, epsilon, margins = case
    values = {"epsilon": epsilon, **short(key, epsilon)}
    return invented(key, Shape(levels, rows), values, draws=draws, margins=margins).mean


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{len(c[0])}-{c[1]}-{c[2]:g}")
@pytest.mark.parametrize("key", OURS)
def test_invents_at_most_half_a_link(key, case):
    """On columns that depend on nothing.

    The seeds are fixed. Over seeds, a rule that sees as much as the bound allows, .31 pairs a run
    with a standard deviation of .77, fails with probability .035; one that takes twice the false
    share passes with probability .01.
    """
    assert links(key, case) <= MOST


def test_it_would_catch_a_rule_without_the_bound(monkeypatch):
    """Both rules with everything seen: they invent 1.3 links a run and more, so few runs do."""

    def everything(*arguments):
        return np.ones((6, 6), dtype=bool)

    monkeypatch.setattr(NoisyTests, "seen", everything)
    monkeypatch.setattr(gram_notears, "seen", everything)
    assert {key for key in OURS if links(key, CASES[0], draws=6) > MOST} == set(OURS) != set()
