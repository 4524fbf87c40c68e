"""Every statistic keeps the properties that it declares."""

import math

import numpy as np
import pytest

from engine import ALGORITHMS, load_dataset
from engine.errors import InputError
from engine.statistics.base import UNTESTABLE, VARIANTS, Statistic, p_sensitivity
from engine.statistics.likelihood import G2
from engine.statistics.registry import AGGREGATED, BOUNDED, STATISTICS
from engine.tables.store import store_of
from pages.shell.words import LABELS

EVERY = pytest.mark.parametrize("statistic", STATISTICS.values(), ids=STATISTICS)
OF_TABLES = [s for s in STATISTICS.values() if s.reads_data]
SHAPES = [(1, 2, 2), (1, 3, 4), (2, 2, 3), (5, 3, 3)]


def tables(shape, n=60):
    rng = np.random.default_rng(list(shape))
    for power in (0.2, 1.0, 5.0):
        for _ in range(20):
            shares = rng.dirichlet(np.full(math.prod(shape), power))
            yield rng.multinomial(n, shares).reshape(shape)


@EVERY
def test_it_says_what_it_is(statistic):
    assert STATISTICS[statistic.key] is statistic
    assert LABELS[statistic.key] == statistic.label
    assert 0 < statistic.threshold < statistic.largest_p <= 1
    # Noise goes on its score, or on an aggregate of blocks, or it reads no data: one of the three.
    ways = (statistic.key in BOUNDED, statistic.key in AGGREGATED, not statistic.reads_data)
    assert sum(ways) == 1
    assert statistic.aggregated == (statistic.key in AGGREGATED)


@EVERY
def test_scores_lie_in_their_range_and_p_falls_as_the_statistic_rises(statistic):
    data = load_dataset("asia", n=400, seed=0)
    for variant in VARIANTS:
        scorer = statistic.scorer(data, variant)
        for given in ((), (2,), (2, 5)):
            score = scorer(store_of(data).count, 0, 7, given)
            assert not score.testable or 0 <= score.p <= statistic.largest_p
    found = [statistic.score(t) for t in tables((1, 3, 3))] if statistic.reads_data else []
    ranked = sorted((abs(s.statistic), -s.p) for s in found if s.testable and s.dof in (None, 4))
    assert [p for _, p in ranked] == sorted(p for _, p in ranked)


@pytest.mark.parametrize("statistic", OF_TABLES, ids=lambda s: s.key)
def test_independent_tables_look_independent_and_the_rest_does_not(statistic):
    level, apart = np.full((2, 3, 3), 40), np.array([np.eye(3, dtype=int) * 40] * 2)
    assert statistic.score(level).p > statistic.threshold > statistic.score(apart).p
    assert statistic.score(level).p == pytest.approx(statistic.largest_p, abs=1e-9)
    assert statistic.log_odds(statistic.score(level), 720) < 0
    assert statistic.log_odds(statistic.score(apart), 240) > 0


WHERE_NOTHING_IS_TESTED = {
    "a constant column": ([[[5, 0], [7, 0]], [[3, 0], [2, 0]]], True),
    "another constant one": ([[[0, 0], [7, 2]], [[0, 0], [2, 9]]], True),
    "constant in another stratum's place": ([[[5, 4], [0, 0]], [[3, 8], [0, 0]]], True),
    "no rows": ([[[0, 0], [0, 0]]], True),
    "a set that determines x": ([[[5, 7], [0, 0]], [[0, 0], [3, 9]]], False),
    "a set that determines both": ([[[5, 0], [0, 0]], [[0, 0], [0, 7]]], False),
    "x varies in one stratum, y in the other": ([[[5, 0], [7, 0]], [[0, 0], [3, 9]]], False),
}


@pytest.mark.parametrize("what", WHERE_NOTHING_IS_TESTED)
@pytest.mark.parametrize("statistic", OF_TABLES, ids=lambda s: s.key)
def test_one_rule_where_no_stratum_can_test(statistic, what):
    """A constant column shows no dependence; where both vary, nothing is concluded.

    The score of a table, the same table as a block, and EM-PC's distance say the same.
    """
    table, independent = WHERE_NOTHING_IS_TESTED[what]
    score = statistic.score(table)
    assert (score.p == statistic.largest_p, score.testable) == (independent, independent)
    blocks = np.concatenate([table, [[[30, 10], [5, 25]]], table])
    block = np.repeat([0, 1, 2], [len(table), 1, len(table)])
    first, tested, last = statistic.block_p_values(np.asarray(blocks), block, 3)
    assert first == last == (statistic.largest_p if independent else 0)
    assert 0 < tested < 0.01
    if statistic is G2:
        assert G2.records_to_flip(np.asarray(table), 0.01, 50) == (50 if independent else -50)
    strict = statistic.score(table, "strict")
    assert strict.testable == (independent or statistic.bounded)  # |z| = 0, whatever the data
    assert not strict.statistic > 0


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("statistic", OF_TABLES, ids=lambda s: s.key)
def test_what_is_no_table_of_counts_is_refused(statistic, variant):
    for wrong in ([[1, -2], [3, 4]], [[0.5, 1], [2, 3]], [[math.nan, 1], [2, 3]], [["a", 1]]):
        with pytest.raises(InputError, match=r"^Counts are whole numbers of at least 0; .*\.$"):
            statistic.score(wrong, variant)
    for wrong in ([[math.inf, 1], [2, 3]], [[1e300, 1], [2, 3]], [[-1e300, 1], [2, 3]]):
        with pytest.raises(InputError, match="at least 0"):
            statistic.score(wrong, variant)
    for wrong in ([1, 2], [[[[1]]]]):
        with pytest.raises(InputError, match="shape"):
            statistic.score(wrong, variant)
    whole = statistic.score([[3.0, 4.0], [1.0, 7.0]], variant)
    assert whole == statistic.score(np.array([[3, 4], [1, 7]], np.uint8), variant)
    assert whole == statistic.score([[[3, 4], [1, 7]]], variant)
    with pytest.raises(InputError, match="published or strict"):
        statistic.score([[3, 4], [1, 7]], "stricter")


def test_log_odds_are_schwarzs():
    """(chi-square - dof ln n) / 2, and 0 where nothing could be tested."""
    for statistic in OF_TABLES:
        score = statistic.score([[30, 10, 2], [5, 25, 4], [3, 4, 9]])
        square = score.statistic ** (2 if statistic.bounded else 1)
        wanted = (square - (score.dof or 1) * math.log(92)) / 2
        assert statistic.log_odds(score, 92) == pytest.approx(wanted, rel=1e-12)
        assert statistic.log_odds(UNTESTABLE, 92) == 0
    assert UNTESTABLE.dof == 0


def test_one_without_a_formula_says_so():
    with pytest.raises(TypeError, match="must define score"):
        Statistic().score([[1, 2], [3, 4]])


def test_nothing_bounds_what_nothing_is_known_of():
    """A statistic that declares no bound gets no noise: its sensitivity has no end."""
    for key in AGGREGATED:
        statistic = STATISTICS[key]
        assert statistic.sensitivity(60, 2, 2, conditional=False) == math.inf
        assert statistic.largest(60) == statistic.published_sensitivity(60, 4) == math.inf


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("key", BOUNDED)
def test_one_record_moves_a_bounded_statistic_by_no_more_than_it_says(key, shape):
    statistic, rng = STATISTICS[key], np.random.default_rng(1)
    n, (strata, x, y) = 60, shape
    bound = statistic.sensitivity(n, x, y, conditional=strata > 1)
    assert 0 < bound < math.inf
    moved = 0.0
    for table in tables(shape, n):
        here = statistic.score(table, "strict")
        assert abs(here.statistic) <= statistic.largest(n)
        for _ in range(20):
            other = table.copy()
            source = rng.choice(np.flatnonzero(other))
            other.ravel()[source] -= 1
            other.ravel()[rng.integers(other.size)] += 1
            there = statistic.score(other, "strict")
            change = abs(abs(here.statistic) - abs(there.statistic))
            moved = max(moved, change)
            assert change <= bound
            assert abs(here.p - there.p) <= p_sensitivity(bound)
    assert moved > bound / 5  # the search has seen something
    assert statistic.published_sensitivity(n, None) > 0 < statistic.published_sensitivity(n, strata)


@pytest.mark.parametrize("statistic", OF_TABLES, ids=lambda s: s.key)
def test_blocks_are_tested_one_by_one(statistic):
    """What a statistic does for all blocks at once is what its score says of each."""
    table = np.concatenate(list(tables((1, 3, 3))))
    block = np.random.default_rng(0).integers(0, 7, len(table))
    block[block == 4] = 5  # a block without rows
    together = statistic.block_p_values(table, block, 7)
    assert together == pytest.approx(Statistic.block_p_values(statistic, table, block, 7))
    assert together.shape == (7,)
    assert together[4] == statistic.largest_p  # it shows no dependence


def test_every_search_offers_every_bounded_statistic():
    """A statistic that noise can be put on is taken up by all searches that put noise on scores."""
    for key, algorithm in ALGORITHMS.items():
        choices = {s.name: s.choices for s in algorithm.params.specs()}.get("statistic")
        if choices is not None and key != "marginal_pc":  # it releases tables, and tests those
            assert set(BOUNDED) <= set(choices), key
