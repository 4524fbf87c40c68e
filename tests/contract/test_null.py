"""On independent columns false positives are rare, and every test keeps its rate."""

from functools import cache

import numpy as np
import pytest
from scipy.stats import binom

from benchmarks.rare import BY_BLOCKS, HUGE, forms
from engine import ALGORITHMS, Dataset, run
from engine.algorithms import gram_notears
from engine.marginals.citest import NoisyTests
from engine.statistics.registry import AGGREGATED
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


# Rare and constant columns ----------------------------------------------------------------

# The largest share of pairs of independent binary columns that a test calls dependent at its
# default threshold, whatever their prevalences: `benchmarks.rare --grid` prints those of G2 and
# chi2, whose p-values are approximations; a rank test's is 2 T at most.
RATES = {"kendall": 0.2, "spearman": 0.2, "g2": 0.03, "chi2": 0.1, "auto": 0.2}
BY_VOTE = 0.01  # more than half of the blocks do so by chance
OTHERS = 0.03  # score-based: an edge a run
RARE = (0.001, 0.005, 0.02, 0.1, 0.5)


@cache
def rare_columns(draw):
    """Independent: two constant columns, and rare ones."""
    rng = np.random.default_rng([19, draw])
    rare = rng.random((20_000, len(RARE))) < RARE
    codes = np.column_stack([np.ones(len(rare), int), np.zeros(len(rare), int), rare])
    levels = [("a", "b"), ("a", "b", "c"), *([("no", "yes")] * len(RARE))]
    return Dataset.from_codes(codes, levels=levels, public=True)


@pytest.mark.parametrize("key", sorted({key for key, _ in forms()}))
def test_a_constant_column_has_no_link_and_a_rare_one_few(key):
    """Without noise, under every statistic and guarantee."""
    draws = 3
    for values in [short(key, HUGE) | values for other, values in forms() if other == key]:
        found = [
            pair
            for draw in range(draws)
            for pair in run(key, rare_columns(draw), seed=draw, trace=False, **values).skeleton
        ]
        assert not [pair for pair in found if pair & {"X0", "X1"}], values
        statistic = values.get("statistic")
        rate = RATES.get(statistic, OTHERS)
        if statistic in AGGREGATED and key in BY_BLOCKS:
            rate = BY_VOTE
        pairs = draws * len(RARE) * (len(RARE) - 1) // 2
        assert len(found) <= binom.isf(0.001, pairs, rate), values


@pytest.mark.parametrize("statistic", AGGREGATED)
@pytest.mark.parametrize("key", BY_BLOCKS)
def test_blocks_invent_no_more_on_rare_columns_than_noise_does(key, statistic):
    """At epsilon 10 noise alone invents few; constant blocks that count as dependent, 3 to 10."""
    shape, values = Shape((2,) * 5, 20_000), {"statistic": statistic, "epsilon": 10.0}
    assert invented(key, shape, values, draws=10, margins=(0.001,)).mean <= 2 * MOST
