"""Subsample and aggregate: blocks, votes, the median's smooth sensitivity, the algorithms on it."""

import math
from collections import Counter
from itertools import combinations_with_replacement, product

import numpy as np
import pytest
from scipy.stats import chi2, chi2_contingency

from engine import load_dataset, run
from engine.algorithms.priv_pc import PrivPCParameters
from engine.data.dataset import Dataset
from engine.graphs.cpdag import pairs_of
from engine.privacy.events import LaplaceEvent, SmoothEvent
from engine.randomness import Randomness
from engine.search.noisy_score import Median, Votes
from engine.search.skeleton import Graph, Query, TestByTest, search
from engine.statistics.blocks import Blocks, smooth_sensitivity_of_median, votes
from engine.statistics.likelihood import G2
from engine.statistics.registry import AGGREGATED, STATISTICS
from engine.tables.store import store_of

# What scipy calls them; a statistic that is added to the list says here what it ought to be.
LAMBDA = {"g2": "log-likelihood", "chi2": "pearson"}


@pytest.mark.parametrize("key", AGGREGATED)
def test_every_statistic_with_blocks_is_computed_by_its_own_formula(key):
    """One block of all rows has the p-value of the statistic itself, and no other's."""
    table = np.array([[[30, 10, 4], [5, 25, 9]], [[12, 8, 1], [9, 11, 0]]])
    x, y, z = (axis.ravel() for axis in np.indices(table.shape)[[1, 2, 0]])
    rows = np.repeat(np.column_stack([x, y, z]), table.ravel(), axis=0)
    data = Dataset.from_codes(rows)
    blocks = Blocks.deal(store_of(data), 1, np.arange(data.n))
    found = {k: blocks.p_values(0, 1, (2,), STATISTICS[k])[0] for k in AGGREGATED}
    parts = [t[:, t.any(axis=0)] for t in table]
    value = sum(chi2_contingency(t, False, lambda_=LAMBDA[key]).statistic for t in parts)
    by_scipy = chi2.sf(value, 2 + 2)
    assert found[key] == pytest.approx(by_scipy, rel=1e-9)
    assert STATISTICS[key].score(table).p == pytest.approx(by_scipy, rel=1e-9)
    assert len(set(found.values())) == len(AGGREGATED)


def test_sparse_and_dense_tables_agree(monkeypatch):
    data = load_dataset("child", n=2_000, seed=0)
    blocks = Blocks.deal(store_of(data), 7, np.random.default_rng(0).permutation(data.n))
    dense = blocks.p_values(0, 1, (4, 9), G2)
    monkeypatch.setattr("engine.statistics.blocks.DENSE_CELLS", 1)
    assert blocks.p_values(0, 1, (4, 9), G2) == pytest.approx(dense)


def test_one_replaced_record_changes_one_block_and_one_vote():
    data, rng = load_dataset("asia", n=600, seed=0), np.random.default_rng(0)
    seen = 0
    for trial in range(60):
        row, donor = rng.integers(data.n, size=2)
        codes = np.array(data.codes)
        codes[row] = data.codes[donor]
        other = Dataset.from_codes(codes, levels=data.levels)
        order = np.random.default_rng(trial).permutation(data.n)
        a, b = (Blocks.deal(store_of(d), 21, order).p_values(5, 7, (), G2) for d in (data, other))
        changed = np.flatnonzero(a != b)
        assert changed.size <= 1
        for block in changed:  # a threshold between the two values is where the vote changes
            between = (a[block] + b[block]) / 2
            assert abs(votes(a, between) - votes(b, between)) == 1
            seen += 1
    assert seen > 10


def smooth_by_definition(x, beta, grid):
    """max over all y of e^(-beta d(x, y)) LS(y), y on the grid (Nissim et al., definition 2.2).

    A median's local sensitivity is reached by moving one value to an end of the range.
    """
    n = len(x)
    every = grid[np.indices((len(grid),) * n).reshape(n, -1).T]
    low, middle, high = np.sort(every, axis=1)[:, n // 2 - 1 : n // 2 + 2].T
    local = np.maximum(high - middle, middle - low)
    return np.max(np.exp(-beta * np.count_nonzero(every != x, axis=1)) * local)


def test_smooth_sensitivity_is_the_definitions():
    rng = np.random.default_rng(0)
    for beta in (0.05, 0.5, 2.0):
        for _ in range(5):
            x = np.round(rng.random(5), 2)
            grid = np.unique([0.0, 1.0, *x])
            assert smooth_sensitivity_of_median(x, beta) == pytest.approx(
                smooth_by_definition(x, beta, grid)
            )


def test_votes_and_median_decide_alike_without_noise():
    data = load_dataset("asia", n=20_000, seed=0)
    for seed in range(3):
        params = PrivPCParameters(statistic="g2", blocks=20)
        v = Votes(data, params, Randomness(seed))
        m = Median(data, params, Randomness(seed))
        for q in (Query(0, 1, ()), Query(2, 6, (3,)), Query(1, 4, (2, 5))):
            assert (v.of(q) > v.cutoff()) == (m.of(q) > m.cutoff())
        assert (v.cutoff(), v.cutoff(0.1)) == pytest.approx((21 / 2, 21 * 0.4))
        assert v.cutoff_at(0.05) == pytest.approx(21 / 4)  # half of the threshold's .10
        assert (m.cutoff(), m.cutoff(0.02)) == pytest.approx((0.1, 0.08))


@pytest.mark.parametrize("given", [(), (2,)])
@pytest.mark.parametrize("key", AGGREGATED)
def test_one_record_moves_votes_and_median_as_the_proof_says(key, given):
    """All blocks of three rows of three binary columns, each with every replaced record.

    Blocks that cannot be tested are among them. Three blocks are all that a median needs.
    """
    kinds = list(combinations_with_replacement(range(8), 3))
    rows = np.array(np.unravel_index(np.ravel(kinds), (2, 2, 2))).T
    data = Dataset.from_codes(rows, levels=[["a", "b"]] * 3)
    order = np.arange(data.n).reshape(-1, 3).T.ravel()  # a kind is a block
    p = Blocks.deal(store_of(data), len(kinds), order).p_values(0, 1, given, STATISTICS[key])
    assert len(p) == len(kinds)
    assert set(p) >= ({0.0, 1.0} if given else {1.0})
    assert ((p >= 0) & (p <= 1)).all()
    near = {
        (a, b)
        for (one, a), (other, b) in product(zip(kinds, p, strict=True), repeat=2)
        if (Counter(one) - Counter(other)).total() <= 1
    }
    assert len(near) > len(set(p))
    for beta in (0.05, 0.5, 2.0):
        smooth = {
            x: smooth_sensitivity_of_median(np.array(x), beta)
            for x in combinations_with_replacement(sorted(set(p)), 3)
        }
        for rest in combinations_with_replacement(sorted(set(p)), 2):
            for pair in near:
                x, y = (tuple(sorted((*rest, end))) for end in pair)
                assert abs(x[1] - y[1]) <= smooth[x] + 1e-12
                assert smooth[x] <= math.exp(beta) * smooth[y] + 1e-12
                assert abs(votes(np.array(x), 0.1) - votes(np.array(y), 0.1)) <= 1


class Noiseless(TestByTest):
    """The non-private parent at the same blocks."""

    def __init__(self, score):
        super().__init__()
        self.score = score

    def independent(self, q):
        """More than half of the blocks have p > .10."""
        p = self.score.p_values(q)
        return 2 * int(np.count_nonzero(p > 0.1)) > p.size


# The median is defined with Laplace noise, so published gauss_pc has none.
BLOCKWISE = [
    ("gauss_pc", "strict"),
    *((k, g) for k in ("priv_pc", "svt_pc", "curate_pc") for g in ("strict", "published")),
]


@pytest.mark.parametrize(("key", "guarantee"), BLOCKWISE)
@pytest.mark.parametrize("statistic", ["g2", "chi2"])
def test_huge_epsilon_recovers_the_parent_at_the_same_blocks(key, guarantee, statistic):
    data = load_dataset("asia", n=20_000, seed=0)
    options = {"statistic": statistic, "blocks": 15, "epsilon": 1e7}
    if key == "curate_pc":
        options |= {"beta1": 0.0, "beta2": 0.0}
    private = run(key, data, guarantee=guarantee, seed=9, **options)
    # The blocks are dealt with the run's first random numbers.
    params = PrivPCParameters(statistic=statistic, blocks=15)
    score = Votes(data, params, np.random.default_rng(9))
    graph = Graph(data.d)
    search(graph, Noiseless(score), params.order_limit(data))
    assert private.skeleton == pairs_of(graph.matrix(), data.names)


def test_what_is_charged():
    data = load_dataset("asia", n=20_000, seed=0)
    strict = run("curate_pc", data, statistic="g2", epsilon=5.0)
    assert {type(c.event) for c in strict.ledger} == {LaplaceEvent}
    assert {c.event.sensitivity for c in strict.ledger} == {1.0}
    published = run("curate_pc", data, statistic="g2", guarantee="published")
    assert {type(c.event) for c in published.ledger} == {SmoothEvent}
    assert 0 < published.proven.delta < 1
    # A sparse vector with noise of a scale of its own a query: nothing is defended.
    vector = run("svt_pc", data, statistic="g2", guarantee="published")
    assert math.isinf(vector.proven.epsilon)
