"""Marginal PC: its plans, what it releases and when, its limit without noise."""

import math
from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from scipy.stats import multivariate_normal

from benchmarks.random_networks import random_dataset
from engine import Dataset, load_dataset, run
from engine.algorithms import marginal_pc
from engine.algorithms.marginal_pc import (
    FEW,
    SMALL,
    USUAL,
    WIDE,
    planned_releases,
    strongest_forest,
    with_tables,
)
from engine.context import RunContext
from engine.data.column import MOST_RELEASED
from engine.graphs import weighed_colliders
from engine.marginals import citest, confidence, kernels
from engine.marginals import moments as released
from engine.marginals.citest import NoisyTests
from engine.marginals.levels import groups, merged
from engine.marginals.sensitivity import all_pairs_change, hidden, tables_change
from engine.privacy.accounting import Guarantee
from engine.privacy.ledger import Ledger
from engine.randomness import Randomness
from engine.search.skeleton import Graph
from engine.tables.store import store_of

ONE = Guarantee(1.0, 1e-6)


def dataset(codes, levels):
    return Dataset.from_codes(codes, levels=[list(map(str, range(r))) for r in levels], public=True)


def random_data(levels, n, seed=0):
    rng = np.random.default_rng(seed)
    return dataset(np.column_stack([rng.integers(0, r, n) for r in levels]), levels)


def paying(epsilon=1.0):
    """A run under a Gaussian DP filter."""
    return RunContext(Randomness(0), Ledger(Guarantee(epsilon, 1e-6), method="gdp"))


def test_of_all_orders_wider_tensors_have_less_weight():
    """With the sensitivity that tests/privacy/test_tensor_sensitivity.py shows to be exact."""
    names = [k for size in (3, 4, 5) for k in combinations(range(5), size)]
    store, session = store_of(random_data((2,) * 5, 50)), RunContext(Randomness(0), Ledger())
    released.release_orders(session, store, released.release_pairs(session, store, 1.0), 1.0)
    change = tables_change(names, (2,) * 5, [released.ORDER_WEIGHT ** (len(k) - 3) for k in names])
    assert session.ledger[-1].event.sensitivity ** 2 == pytest.approx(change, rel=1e-9)


def test_a_stop_while_the_sensitivity_is_computed_costs_nothing(monkeypatch):
    """The releases before are paid for; the one that was being prepared is not."""
    pressed = []

    def wide(*arguments, **options):
        pressed.append(True)
        return tables_change(*arguments, **options)

    monkeypatch.setattr(released, "tables_change", wide)
    data = load_dataset("sachs", n=2000)
    result = run("marginal_pc", data, stop=lambda: bool(pressed))
    assert result.status == "cancelled"
    assert [c.label for c in result.ledger] == ["all pairs"]
    assert len(pressed) == 1


def test_many_levels_are_merged_by_the_schema_alone():
    """A hundred levels become twelve runs of neighbours, whatever the rows hold."""
    for levels in (2, 12, 13, 40, 100):
        group = groups(levels)
        assert group[0] == 0
        assert group[-1] == min(levels, MOST_RELEASED) - 1
        assert set(np.diff(group)) <= {0, 1}
        sizes = np.bincount(group)
        assert sizes.max() - sizes.min() <= 1
    rng = np.random.default_rng(0)
    x = rng.integers(0, 100, 20_000)
    codes = np.column_stack([x, x // 25, rng.integers(0, 60, 20_000)])
    data = Dataset.from_codes(codes)
    small = merged(data)
    assert max(small.cardinalities) == MOST_RELEASED
    assert merged(small) is small
    assert (small.codes[:, 0] == groups(100)[x]).all()
    assert small.levels[0][0] == "0 to 8"
    assert small.levels[1] == data.levels[1]
    for some in (codes[:50], codes[codes[:, 0] < 90], codes[codes[:, 2] > 20]):
        part = merged(Dataset.from_codes(some, levels=data.levels))
        assert part.levels == small.levels
        assert (part.codes[:, 0] == groups(100)[some[:, 0]]).all()
        assert (part.codes[:, 2] == groups(60)[some[:, 2]]).all()
    result = run("marginal_pc", data, epsilon=1.0)
    assert result.skeleton == {frozenset(("X0", "X1"))}


def test_arrows_have_probabilities():
    """Edges, and both directions of each; an arrow drawn is one that was earned."""
    data = load_dataset("asia", n=50_000, seed=0)
    result = run("marginal_pc", data, epsilon=5.0, seed=1)
    told = result.diagnostics
    assert len(set(told.released_tables)) == len(told.released_tables)
    assert {*combinations(range(data.d), 2)} <= {*told.released_tables}
    assert {frozenset((data.names[i], data.names[j])) for i, j in told.edge_confidence} == (
        result.skeleton
    )
    assert all(0.4 < p <= 1 for p in told.edge_confidence.values())
    arrows = told.direction_confidence
    linked = {frozenset((data.names[i], data.names[j])) for i, j in arrows}
    assert linked == result.skeleton
    assert len(arrows) == 2 * len(linked)
    assert all(p >= 0 and p + arrows[j, i] <= 1 + 1e-9 for (i, j), p in arrows.items())
    drawn = [(i, j) for i, j in arrows if result.matrix[i, j] and not result.matrix[j, i]]
    assert drawn
    assert all(arrows[i, j] > arrows[j, i] for i, j in drawn)
    voted = run("marginal_pc", data, epsilon=5.0, seed=1, orientation="majority")
    assert voted.skeleton == result.skeleton
    assert not voted.diagnostics.direction_confidence


def test_without_noise_directions_meet_those_of_pc():
    """The same rule on exact evidence: Sachs, where both skeletons are right."""
    options = {"stable": True, "max_order": 2, "orientation": "strongest"}
    data = load_dataset("sachs", n=50_000, seed=2)
    plain = run("pc", data, statistic="g2", **options)
    ours = run("marginal_pc", data, epsilon=1e7, max_order=2, trace=False)
    assert (plain.matrix == ours.matrix).all()
    assert ours.metrics_all.directed_f1 == 1.0


def test_a_deleted_link_comes_back_at_no_cost():
    """A strong link that a test of little power deleted; what is released stays the same."""
    data = random_dataset(16, 26, 930_002, 100_000)
    old, new = (
        run("marginal_pc", data, epsilon=0.3, seed=930_002, orientation=rule, trace=False)
        for rule in ("strongest", "repaired")
    )
    again = new.skeleton - old.skeleton
    assert old.skeleton < new.skeleton
    assert again <= {frozenset(edge) for edge in data.truth.edges}
    told = new.diagnostics.edge_confidence.items()
    sure = {frozenset(data.names[i] for i in pair): p for pair, p in told}
    assert {sure[pair] for pair in again} == {confidence.RESTORED}
    assert not again & set(new.separating_sets)
    assert list(new.ledger) == list(old.ledger)
    assert np.array_equal(new.diagnostics.released.two, old.diagnostics.released.two)
    default = run("marginal_pc", data, epsilon=0.3, seed=930_002, trace=False)
    assert (default.matrix == new.matrix).all()


def with_copies(data, columns):
    """Return a table with some of its columns twice."""
    codes = np.column_stack([data.codes, data.codes[:, columns]])
    return dataset(codes, [len(data.levels[i]) for i in (*range(data.d), *columns)])


def in_order(data, order):
    """Return the dataset with its columns in another order."""
    names, levels = ([of[i] for i in order] for of in (data.names, data.levels))
    return Dataset.from_codes(data.codes[:, order], names, levels, public=True)


@pytest.mark.parametrize(
    ("data", "epsilon"),
    [
        (lambda: random_dataset(4, 6, 0, 20_000), 5.0),  # compared by whole tables
        (lambda: with_copies(random_dataset(8, 10, 3, 5_000), [6, 0]), 1.0),  # ties
        (lambda: load_dataset("sachs", n=5_000), 5.0),
    ],
    ids=["few cells", "copies", "few sets"],
)
def test_the_order_of_the_columns_makes_no_difference(data, epsilon, monkeypatch):
    """The noise is declared and none is drawn, because it is drawn in the order of the columns."""
    monkeypatch.setattr(released, "gaussian", lambda session, exact, **_: np.array(exact))
    monkeypatch.setattr(weighed_colliders, "MOST_SETS", 15)
    data, rng, found = data(), np.random.default_rng(1), set()
    for _ in range(4):
        result = run("marginal_pc", in_order(data, rng.permutation(data.d)), epsilon=epsilon)
        marks = np.argwhere(result.matrix).tolist()
        found.add(frozenset((result.names[i], result.names[j]) for i, j in marks))
    assert len(found) == 1


def test_the_strongest_forest_is_kruskals():
    """Against networkx on the same weights."""
    data = load_dataset("sachs", n=20_000, seed=0)
    session = paying()
    tests = NoisyTests(released.release_pairs(session, store_of(data), session.ledger.limit))
    graph, weighted = Graph(data.d), nx.Graph()
    for x, y in combinations(range(data.d), 2):
        weighted.add_edge(x, y, weight=max(tests.test(x, y).bayes, -1.0))
    found = strongest_forest(tests, graph.matrix())
    best = nx.maximum_spanning_tree(weighted)
    assert len(found) == data.d - 1
    total = sum(weighted.edges[p]["weight"] for p in found)
    assert total == pytest.approx(best.size(weight="weight"))


@pytest.mark.parametrize("ordinal", [False, True])
def test_all_pairs_at_once_are_the_single_tests(ordinal, monkeypatch):
    """The marginal tests, three variables at once, against the same test asked pair by pair."""
    monkeypatch.setattr(citest, "AT_ONCE", 3)
    data = random_data((2, 3, 1, 4), 3000, seed=3)
    session = paying(2.0)
    moments = released.release_pairs(session, store_of(data), session.ledger.limit)
    tests = NoisyTests(moments, ordinal=ordinal)
    for x, y in combinations(range(4), 2):
        one = tests._compute(x, y, (), ((), (), False))
        assert tests.test(x, y)[:4] == pytest.approx(one[:4])


@pytest.mark.parametrize("size", [1, 8, kernels.MANY, 40])
def test_a_score_is_the_ratio_of_two_normal_densities(size):
    """With few directions by eigenvectors, with many without; also for a spread of low rank."""
    rng = np.random.default_rng(size)
    root, half = rng.standard_normal((2, size, 2 * size))
    null, spread = root @ root.T + np.eye(size), half[:, : max(1, size // 2)]
    spread = spread @ spread.T
    r, effects = rng.standard_normal(size), np.array(citest.EFFECTS)
    density = multivariate_normal.logpdf
    wide = [density(r, cov=null + c * spread) - density(r, cov=null) for c in effects]
    ratio = np.linalg.solve(null, spread)
    t1, t2 = np.trace(ratio), np.trace(ratio @ ratio)
    q = r @ ratio @ np.linalg.solve(null, r)
    wanted = q * t1 / t2, t1**2 / t2, np.logaddexp.reduce(wide) - math.log(len(effects))
    assert kernels._score(r, null, spread, effects) == pytest.approx(wanted)


def test_plans_are_whole_and_follow_the_sensitivities():
    """Two rounds choose pairs where all pairs move more than twice the edges expected would."""
    for chosen in (SMALL, FEW, USUAL, WIDE, *map(with_tables, (FEW, USUAL, WIDE))):
        shares = [chosen.first, *(r.share for r in chosen.again), chosen.last, *chosen.tables]
        assert sum(shares) == pytest.approx(1.0, abs=1e-12)
        assert len(shares) == chosen.number
    for d in range(1, 40):
        choosing = all_pairs_change((2,) * d, 0.0) > 2 * 1.2 * d
        assert (len(planned_releases((2,) * d, 10**6, ONE).again) == 2) == choosing, d
    assert planned_releases((2,) * 36, 10**5, ONE) == USUAL
    assert planned_releases((2,) * 37, 10**5, ONE) == WIDE
    assert planned_releases((2,) * 1000, 10**6, ONE) == WIDE


def test_whole_tables_are_released_where_noise_is_two_fifths_of_sampling():
    """A public rule: the correlation that noise hides falls with n, and sampling with its root."""
    levels = (2, 3) * 6
    n = math.ceil((hidden(levels, 1, ONE) / 0.4) ** 2)
    assert planned_releases(levels, n, ONE) == with_tables(USUAL)
    assert planned_releases(levels, n - 1, ONE) == USUAL
    assert planned_releases(levels, n, ONE, ordinal=True) == USUAL
    assert planned_releases((2, 2), 10**9, ONE) == FEW


@pytest.mark.parametrize(
    ("levels", "plan"),
    [
        ((2, 2), FEW),
        ((2, 2, 2), SMALL),
        ((2,) * 6, SMALL),
        ((2,) * 7, with_tables(FEW)),
        ((4, 4, 4, 4), SMALL),
        ((4, 4, 4, 5), with_tables(FEW)),
    ],
)
def test_tables_of_few_cells_are_released_whole(levels, plan):
    """Three to six columns, at most 256 cells."""
    data, total = random_data(levels, 300), Guarantee(50.0, 1e-6)
    assert planned_releases(levels, data.n, total) == plan
    result = run("marginal_pc", data, epsilon=50.0, seed=1, trace=False)
    assert (result.ledger[-1].label == "all orders") == (plan == SMALL)
    every = [k for m in range(1, len(levels) + 1) for k in combinations(range(len(levels)), m)]
    assert (list(result.diagnostics.released_tables) == every) == (
        plan == SMALL or len(levels) == 2
    )


def test_where_noise_hides_much_pairs_are_released_in_the_place_of_all_orders():
    """The switch is where the noise of all pairs hides a correlation of .01, and reads no row."""
    levels, total = (2, 2, 3, 2), ONE
    n = math.ceil(hidden(levels, 1, total) / 0.01)
    for rows, plan, label in ((n, SMALL, "all orders"), (n - 1, FEW, "pairs again")):
        assert planned_releases(levels, rows, total) == plan
        for codes in (random_data(levels, rows).codes, np.zeros((rows, 4), int)):
            data = dataset(codes, levels)
            result = run("marginal_pc", data, epsilon=1.0, delta=1e-6, seed=1, trace=False)
            assert result.ledger[-1].label == label
            assert result.diagnostics.released.has(0, 1, 2, 3) == (plan == SMALL)


def test_a_stop_between_the_releases_and_the_search_is_a_stop(monkeypatch):
    released, stopped = marginal_pc.release, []

    def then_stop(*asked):
        found = released(*asked)
        stopped.append(True)
        return found

    monkeypatch.setattr(marginal_pc, "release", then_stop)
    data = load_dataset("asia", n=2000)
    result = run("marginal_pc", data, epsilon=1.0, seed=0, stop=lambda: bool(stopped))
    assert result.status == "cancelled"
    assert len(result.untested) == 28
