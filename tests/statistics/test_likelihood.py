"""G2 and chi2 against scipy, stratum by stratum; EM-PC's distance against a search that is slow."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import chi2, chi2_contingency

from engine.statistics.blocks import BLOCK_ROWS, MIN_BLOCKS, default_blocks, odd, votes
from engine.statistics.distance import records_changed
from engine.statistics.likelihood import CHI2, G2

Table = NDArray[np.int64]
WAYS = {"g2": "log-likelihood", "chi2": "pearson"}


def by_scipy(table, key):
    """The sum over strata without their empty rows and columns, and the degrees of freedom."""
    value, freedom = 0.0, 0
    for stratum in table:
        held = stratum[stratum.any(axis=1)][:, stratum.any(axis=0)]
        if min(held.shape, default=0) > 1:
            found = chi2_contingency(held, correction=False, lambda_=WAYS[key])
            value, freedom = value + found.statistic, freedom + found.dof
    return value, freedom


def tables(count, shape, most):
    """Random ones, sparse ones among them: rows, columns and strata that are empty."""
    rng = np.random.default_rng(list(shape))
    found = [rng.integers(0, rng.integers(1, most), shape) for _ in range(count)]
    return [t * (rng.random(shape) < 0.7) for t in found]


@pytest.mark.parametrize("statistic", [G2, CHI2], ids=lambda s: s.key)
def test_a_score_is_scipys(statistic):
    seen = set()
    for table in [*tables(40, (2, 3, 4), 9), *tables(20, (1, 2, 2), 30), *tables(20, (3, 2, 2), 3)]:
        value, freedom = by_scipy(table, statistic.key)
        score = statistic.score(table)
        seen.add(freedom)
        if freedom == 0:
            continue
        assert score.statistic == pytest.approx(value, rel=1e-9, abs=1e-9)
        assert score.dof == freedom
        assert score.p == pytest.approx(chi2.sf(value, freedom), rel=1e-7)
        assert statistic.score(table, "strict") == score
    assert {0, 1, 2} < seen
    assert statistic.threshold == 0.01


def test_independence_by_a_hair_is_no_dependence():
    """Rounding may take G2 below 0, of which chi-square knows nothing."""
    level = np.outer([3, 5, 7], [2, 4, 11])[None] * 100_003
    assert G2.block_p_values(level, np.array([0]), 1)[0] == pytest.approx(1)
    assert G2.score(level).p == pytest.approx(1, abs=1e-6)


# How far a table is from the other answer --------------------------------------------------


def g2(table):
    def xlogx(counts):
        held = counts[counts > 0]
        return float((held * np.log(held)).sum())

    parts = [
        xlogx(t) - xlogx(t.sum(axis=0)) - xlogx(t.sum(axis=1)) + xlogx(t.sum(keepdims=True))
        for t in table
    ]
    return 2 * sum(parts)


def greedy(table, critical, raising, limit):
    """One record at a time, of all moves the best: inside a stratum, or out of one into another.

    What leaves and what comes into another stratum are each the best of their own. No record is put
    into an empty row or column.
    """
    table, changed, sign = table.copy(), 0, 1.0 if raising else -1.0
    while changed < limit and (g2(table) <= critical if raising else g2(table) > critical):
        now, best, found = g2(table), 0.0, None
        gains_out = {}
        gains_in = {}
        places = [tuple(map(int, p)) for p in np.argwhere(np.ones(table.shape))]
        open_to = {p for p in places if table[p[0], p[1]].any() and table[p[0], :, p[2]].any()}
        for here in places:
            if table[here] > 0:
                table[here] -= 1
                gain = sign * (g2(table) - now)
                if here[0] not in gains_out or gain > gains_out[here[0]][0] + 1e-12:
                    gains_out[here[0]] = gain, here
                table[here] += 1
            if here in open_to:
                table[here] += 1
                gain = sign * (g2(table) - now)
                if here[0] not in gains_in or gain > gains_in[here[0]][0] + 1e-12:
                    gains_in[here[0]] = gain, here
                table[here] -= 1
            for there in places:
                if table[here] > 0 and there[0] == here[0] and there != here and there in open_to:
                    table[here] -= 1
                    table[there] += 1
                    gain = sign * (g2(table) - now)
                    if gain > best + 1e-9:
                        best, found = gain, (here, there)
                    table[here] += 1
                    table[there] -= 1
        if gains_out and gains_in:
            s = max(gains_out, key=lambda k: gains_out[k][0])
            t = max(gains_in, key=lambda k: gains_in[k][0])
            across = gains_out[s][0] + gains_in[t][0]
            if s != t and across > best + 1e-9:
                best, found = across, (gains_out[s][1], gains_in[t][1])
        if found is None:
            return limit
        table[found[0]] -= 1
        table[found[1]] += 1
        changed += 1
        if sign * (g2(table) - now) <= 0:
            return limit
    return changed


@pytest.mark.parametrize("shape", [(1, 2, 2), (2, 2, 2), (1, 3, 2), (2, 3, 3)])
def test_the_distance_is_that_of_the_best_single_moves(shape):
    """Of small tables, where no two records are moved at once."""
    rng, seen = np.random.default_rng(list(shape)), set()
    for _ in range(12):
        table = rng.integers(0, 7, shape)
        critical = g2(table) + rng.choice([-5, -3, -1, 1, 3, 5])
        raising = g2(table) <= critical
        wanted = greedy(table, critical, raising, 40)
        before = table.copy()
        assert records_changed(table, critical, raising, 40) == wanted
        assert (table == before).all()
        seen.add((raising, wanted))
    assert len(seen) > 3


def test_the_distance_ends_at_its_limit():
    table = np.array([[[400, 10], [10, 400]]])
    far = records_changed(table, 6.6, False, 10**6)
    assert far > 100
    for limit in (0, 1, 17, far):
        assert records_changed(table, 6.6, False, limit) == limit
    assert records_changed(table, 6.6, False, far + 1) == far
    assert records_changed(table, g2(table) + 1, False, 50) == 0  # it is there already
    assert records_changed(np.zeros((1, 2, 2), np.int64), 1.0, True, 50) == 50  # nothing helps


def test_records_go_from_stratum_to_stratum_as_single_moves_would():
    """Strata of unlike strength, so that the best move takes a record from one to another."""
    rng, ways = np.random.default_rng(5), set()
    for _ in range(12):
        strong, weak = rng.integers(2, 60, (2, 2)), rng.integers(20, 30, (2, 2))
        table = np.stack([strong, weak, rng.integers(1, 9, (2, 2))]).astype(np.int64)
        raising = g2(table) <= 11.3
        single = greedy(table, 11.3, raising, 10**4)
        found = records_changed(table, 11.3, raising, 10**4)
        assert abs(found - single) <= max(1, single // 10)
        ways.add(raising)
    assert ways == {True, False}


def test_the_sign_tells_which_way_the_answer_would_turn():
    near, apart = np.array([[[20, 19], [18, 22]]]), np.array([[[30, 3], [2, 35]]])
    critical = chi2.isf(0.01, 1)
    assert G2.records_to_flip(near, 0.01, 500) == records_changed(near, critical, True, 500) > 0
    assert G2.records_to_flip(apart, 0.01, 500) == -records_changed(apart, critical, False, 500) < 0
    p = G2.score(near).p
    assert G2.records_to_flip(near, p * (1 + 1e-9), 500) < 0  # no longer above alpha


# Blocks ------------------------------------------------------------------------------------


def test_blocks_are_odd_and_at_least_eleven():
    assert (BLOCK_ROWS, MIN_BLOCKS) == (1000, 11)
    assert [odd(k) for k in (1, 2, 3, 10, 11)] == [1, 3, 3, 11, 11]
    for n, blocks in ((1, 11), (11_999, 11), (12_000, 13), (13_999, 13), (14_000, 15)):
        assert default_blocks(n) == blocks


def test_a_vote_is_of_what_exceeds_the_threshold():
    assert votes(np.array([0.1, 0.2, 0.2 + 1e-12, 0.9]), 0.2) == 2
    assert votes(np.zeros(3), 0.0) == 0
