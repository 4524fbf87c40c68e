"""Tables against plain counting, what is kept of them, and samples against their exact law."""

import gc
import math
import weakref
from itertools import permutations
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import engine.tables.store as tables
from engine import load_dataset
from engine.data.dataset import Dataset, mixed_radix_keys
from engine.randomness import Randomness

SIZES = (2, 3, 4, 2, 5)


def dataset(codes, sizes):
    return Dataset.from_codes(codes, levels=[[str(k) for k in range(s)] for s in sizes])


def random_data(seed, n, sizes=SIZES):
    rng = np.random.default_rng(seed)
    return dataset(np.stack([rng.integers(0, s, n) for s in sizes], axis=1), sizes)


def plain_table(data, x, y, strata):
    """One row at a time."""
    sizes = [data.cardinalities[c] for c in (*strata, x, y)]
    out = np.zeros(sizes, np.int64)
    for row in data.codes.astype(int):
        out[tuple(row[[*strata, x, y]])] += 1
    return out.reshape(-1, sizes[-2], sizes[-1])


@pytest.mark.parametrize("n", [1, 7, 500, 2049, 5000])
def test_table_is_the_plain_count(monkeypatch, n):
    """Of folded rows and of rows as they are; beyond ``DENSE_CELLS`` of the occupied strata."""
    data = random_data(1, n)
    whole = tables.Rows(
        np.array(data.codes, order="F"), np.ones(n, np.int32), data.cardinalities, n
    )
    store = tables.Store(data)
    queries = (0, 1, ()), (1, 0, ()), (2, 4, (0,)), (0, 3, (2, 1)), (3, 4, (0, 1, 2)), (4, 1, (3,))
    for x, y, strata in queries:
        expected = plain_table(data, x, y, strata)
        assert (store.table(x, y, strata) == expected).all()
        assert (whole.table(x, y, strata) == expected).all()
    joint = store.rows.counts([4, 0, 2])
    assert (joint == plain_table(data, 0, 2, (4,)).reshape(5, 2, 4)).all()
    monkeypatch.setattr(tables, "DENSE_CELLS", 100)
    dense = plain_table(data, 3, 4, (0, 1, 2))
    for rows in (store.rows, whole):
        assert (rows.table(3, 4, (0, 1, 2)) == dense[dense.any(axis=(1, 2))]).all()


def test_pairs_of_many_columns_are_counted_as_alone(monkeypatch):
    data, products = random_data(4, 5_000, SIZES * 13), []
    pairs = tables.Rows.pairs
    monkeypatch.setattr(tables.Rows, "pairs", lambda rows: products.append(1) or pairs(rows))
    store = tables.Store(data)
    for x, y in ((0, 1), (64, 2), (7, 63)):
        assert (store.count(x, y) == plain_table(data, x, y, ())).all()
    assert len(products) == 1
    monkeypatch.setattr(tables, "_MOST_LEVELS", 16 * 13 - 1)  # one less than there are
    assert (tables.Store(data).count(0, 1) == store.count(0, 1)).all()
    assert len(products) == 1


@given(st.integers(0, 10_000), st.integers(1, 60))
@settings(max_examples=30)
def test_folding_keeps_every_row(seed, n):
    data = random_data(seed, n, (2, 3, 2))
    rows, index = tables.fold(data)
    assert rows.weights.sum() == rows.n == n
    assert (rows.codes[index] == data.codes).all()
    assert len(np.unique(rows.codes, axis=0)) == len(rows.codes)
    assert (np.bincount(index, minlength=len(rows.codes)) == rows.weights).all()


def test_keys_do_not_overflow():
    """Forty columns of 60 levels: 60^40 is far beyond 64 bits."""
    codes = np.random.default_rng(0).integers(0, 60, (200, 40)).astype(np.uint8)
    codes[100:] = codes[:100]
    keys = mixed_radix_keys(codes, [60] * 40)
    assert (keys[:100] == keys[100:]).all()
    assert len(np.unique(keys)) == 100
    assert keys.min() >= 0


# Samples ------------------------------------------------------------------------------


def fits(got, law):
    """The chi-square p-value of draws against a frozen law of whole numbers, rare ones pooled."""
    support = np.arange(got.min(), got.max() + 1)
    expected = law.pmf(support) * got.size
    seen, common = np.bincount(got - got.min(), minlength=support.size), expected >= 8
    wanted = np.append(expected[common], max(got.size - expected[common].sum(), 1e-9))
    counts = np.append(seen[common], got.size - seen[common].sum())
    kept = wanted > 1
    statistic = float(((counts - wanted) ** 2 / wanted)[kept].sum())
    return float(stats.chi2.sf(statistic, max(1, int(kept.sum()) - 1)))


@pytest.mark.parametrize(
    ("good", "bad", "sample"),
    [
        (30, 70, 40),
        (30, 70, 80),
        (5, 1000, 300),
        (500, 20, 510),
        (50_000, 50_000, 16_542),
        (3, 5, 4),
        (60, 40, 95),
        (1000, 3, 20),
        (400, 99_600, 5000),
    ],
)
def test_hypergeometric_draws_follow_the_law(good, bad, sample):
    draws, rng = 20_000, np.random.default_rng(4)
    parts = np.tile(np.array([[good, bad]]), (draws, 1))
    drawn = tables.split(parts, np.full(draws, sample), rng, tables.log_factorials(good + bad))
    assert (drawn.sum(axis=1) == sample).all()
    assert fits(drawn[:, 0], stats.hypergeom(good + bad, good, sample)) > 1e-4


def test_compiled_draws_take_the_generators_own_numbers():
    """An urn of ten items, one drawn: item by item, one uniform number each; and its ends."""
    mine, its = np.random.default_rng(3), np.random.default_rng(3)
    for _ in range(200):
        drawn = tables.split(np.array([[4, 6]]), np.array([1]), mine, tables.log_factorials(10))
        assert drawn[0, 0] == (its.random() * 10 < 4)
    parts = np.array([[4, 0, 3], [0, 0, 0], [2, 2, 2]])
    drawn = tables.split(parts, np.array([7, 0, 0]), mine, tables.log_factorials(7))
    assert drawn.tolist() == [[4, 0, 3], [0, 0, 0], [0, 0, 0]]
    assert mine.random() == its.random()


def test_looking_logarithms_up_changes_no_draw():
    """A table may be bigger than what is looked up: its draws are those of a small one's."""
    parts = np.random.default_rng(0).integers(0, 3000, (500, 4))
    drawn, found = parts.sum(axis=1) // 3, []
    for logs in (tables.log_factorials(int(parts.sum())), tables.log_factorials(100), np.empty(0)):
        rng = np.random.default_rng(5)
        found.append((tables.split(parts, drawn, rng, logs).tolist(), rng.random()))
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("cells", [1 << 14, 5, 0])  # tables split one after the other, or rows
@pytest.mark.parametrize("asked_before", [(), ((2, 3, ()),), ((2, 0, (3,)), (1, 3, ()))])
def test_subsample_is_hypergeometric(monkeypatch, cells, asked_before):
    """However the sample is drawn and whatever was asked of it before; chi-square at 1e-5.

    With replacement instead, the variance would be 1 / (1 - m/n) = 1.67 times as large.
    """
    monkeypatch.setattr(tables.Subsample, "CELLS", cells)
    n, m, rng = 1000, 400, np.random.default_rng(5)
    x = rng.integers(0, 2, n)
    codes = np.stack([x, (x + rng.integers(0, 3, n)) % 2, rng.integers(0, 3, n), x], axis=1)
    store, got = tables.Store(dataset(codes, (2, 2, 3, 2))), []
    for _ in range(2500):
        sample = tables.draw(store, m, Randomness(rng))
        for query in asked_before:
            sample.table(*query)
        got.append(sample.table(0, 1)[0, 0, 0])
    population = int(np.sum((codes[:, 0] == 0) & (codes[:, 1] == 0)))
    assert fits(np.array(got), stats.hypergeom(n, population, m)) > 1e-5
    assert np.var(got) < 0.8 * m * population / n * (1 - population / n)


@pytest.mark.parametrize("cells", [0, 8, 1 << 14])
def test_tables_of_one_sample_agree(cells, monkeypatch):
    """Whether counts or rows were drawn, all tables are margins of one sample of m rows."""
    monkeypatch.setattr(tables.Subsample, "CELLS", cells)
    store = tables.Store(load_dataset("sachs", n=5000))
    sample = tables.draw(store, 700, Randomness(1))
    pair, wide = sample.table(0, 1), sample.table(0, 1, (2, 3))
    assert pair.sum() == 700
    assert (pair <= store.table(0, 1)).all()
    assert (wide.sum(axis=0) == pair[0]).all()
    assert (wide <= store.table(0, 1, (2, 3))).all()
    assert (sample.table(1, 2).sum(axis=2)[0] == pair[0].sum(axis=0)).all()
    assert (sample.table(0, 1, (2, 3)) == wide).all()
    assert (sample.table(7, 8, (1,)).sum(axis=(1, 2)) == pair[0].sum(axis=0)).all()


def test_how_a_sample_is_drawn_depends_on_the_number_of_rows_alone():
    """To draw rows takes a number for each of all n; up to 2^18 of them nothing changes."""
    few, many = (SimpleNamespace(n=n, rows="all") for n in (1 << 18, 1 << 20))
    assert tables.draw(few, 5, Randomness(0))._most == tables.Subsample.CELLS
    assert tables.draw(many, 5, Randomness(0))._most == 4 * tables.Subsample.CELLS
    assert tables.draw(few, 1 << 18, Randomness(0)) == "all"
    by_row = Randomness(0)
    by_row.by_row = True
    assert tables.draw(many, 5, by_row)._most == 0


# What is kept -------------------------------------------------------------------------


@pytest.fixture
def shared(monkeypatch):
    """A bound of 30,000 bytes for the stores of one test."""
    kept = tables.Bounded(30_000, tables._size)
    monkeypatch.setattr(tables, "_shared", kept)
    return kept


def test_the_roles_of_columns_share_one_count(shared):
    """x and y given z and w, in any roles: one count is kept, and each table is as if counted."""
    store = tables.Store(load_dataset("alarm", n=3000))
    columns = (30, 3, 17, 8)
    for x, y, *strata in permutations(columns):
        if x < y and strata == sorted(strata):
            counted, alone = store.count(x, y, tuple(strata)), store.rows.table(x, y, strata)
            assert counted.shape == alone.shape
            assert (counted == alone).all()
    cells = math.prod(store.rows.cardinalities[c] for c in columns)
    assert 8 * cells <= shared.bytes < 2 * 8 * cells + 200


def test_all_stores_share_one_bound(shared):
    stores, calls = [tables.Store(random_data(seed, 50)) for seed in range(3)], []
    known = stores[0].known("pair")
    for value in (0.5, 0.6):  # the second is none: what was computed stays
        stores[0].note("pair", known, "set", value)
    assert stores[0].known("pair") == {"set": 0.5}
    assert shared.bytes == 2 * tables._ENTRY_BYTES
    for k in range(60):
        for _ in range(2):
            stores[k % 3].keep(k, lambda k=k: calls.append(k) or np.full(100, k))
        assert shared.bytes <= 30_000
    assert calls == list(range(60))  # each is computed once
    held = [key for _, key in shared]
    assert 59 in held
    assert not {0, "pair"} & {*held}  # they made room for another's
    before = shared.bytes
    stores[0].note("pair", known, "more", 0.7)
    assert shared.bytes == before  # it is kept no more
    stores.pop()
    gc.collect()
    assert 0 < shared.bytes < before  # what was its own is let go
    stores.clear()
    gc.collect()
    assert shared.bytes == len(shared) == 0
    assert not shared._alike


def test_least_recently_used_goes_first():
    kept = tables.Bounded(3, lambda _: 1)
    for key in "abc":
        kept.lookup(key, lambda key=key: key)
    kept.lookup("a", lambda: "again")
    kept.lookup("d", lambda: "d")
    assert set(kept) == {"a", "c", "d"}
    assert kept["a"] == "a"
    assert set(kept._alike) == {"a", "c", "d"}  # a dataset that lives on keeps no empty set


def test_one_store_a_dataset_and_none_after_it():
    data = random_data(1, 50)
    store = tables.store_of(data)
    assert tables.store_of(data) is store
    assert store.table(0, 1) is store.table(0, 1)
    assert tables.store_of(random_data(1, 50)) is not store
    gone = weakref.ref(store)
    del data, store
    gc.collect()
    assert gone() is None
