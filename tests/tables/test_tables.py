"""Contingency tables against plain counting; subsamples against their exact distribution."""

from __future__ import annotations

import gc
import math
import weakref
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2, hypergeom

import engine.tables.store as store_module
from engine import load_dataset
from engine.data.dataset import Dataset
from engine.data.intake import mixed_radix_keys
from engine.randomness import Randomness
from engine.tables import subsample
from engine.tables.store import Bounded, Rows, Store, fold, store_of
from engine.tables.subsample import draw


def dataset(codes: np.ndarray, sizes: tuple[int, ...]) -> Dataset:
    return Dataset.from_codes(codes, levels=[[str(k) for k in range(s)] for s in sizes])


def random_data(seed: int, n: int, sizes: tuple[int, ...]) -> Dataset:
    rng = np.random.default_rng(seed)
    return dataset(np.stack([rng.integers(0, s, n) for s in sizes], axis=1), sizes)


def plain_table(data: Dataset, x: int, y: int, given: tuple[int, ...]) -> np.ndarray:
    """One row at a time."""
    sizes = [data.cardinalities[c] for c in (*given, x, y)]
    out = np.zeros(sizes, np.int64)
    for row in data.codes.astype(int):
        out[tuple(row[[*given, x, y]])] += 1
    return out.reshape(-1, sizes[-2], sizes[-1])


SIZES = (2, 3, 4, 2, 5)
QUERIES = [(0, 1, ()), (1, 0, ()), (2, 4, (0,)), (0, 3, (2, 1)), (3, 4, (0, 1, 2)), (4, 1, (3,))]


@pytest.mark.parametrize(("x", "y", "given_"), QUERIES)
@pytest.mark.parametrize("n", [1, 7, 500, 2049, 5000])
def test_table_is_the_plain_count(x: int, y: int, given_: tuple[int, ...], n: int) -> None:
    data = random_data(1, n, SIZES)
    expected = plain_table(data, x, y, given_)
    store = Store(data)
    assert (store.table(x, y, given_) == expected).all()
    unfolded = Rows(np.array(data.codes, order="F"), np.ones(n, np.int32), data.cardinalities, n)
    assert (unfolded.table(x, y, given_) == expected).all()


@pytest.mark.parametrize("n", [1, 300, 5000])
def test_sparse_tables_are_the_occupied_strata(monkeypatch: pytest.MonkeyPatch, n: int) -> None:
    data = random_data(2, n, SIZES)
    dense = Store(data).table(3, 4, (0, 1, 2))
    monkeypatch.setattr(store_module, "DENSE_CELLS", 100)
    sparse = Store(data).rows.table(3, 4, (0, 1, 2))
    assert (sparse == dense[dense.any(axis=(1, 2))]).all()
    whole = Rows(np.array(data.codes, order="F"), np.ones(n, np.int32), data.cardinalities, n)
    assert (whole.table(3, 4, (0, 1, 2)) == sparse).all()


def test_pairs_of_many_columns_are_counted_as_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    data = random_data(4, 5_000, SIZES * 13)
    store = Store(data)
    assert store.kept("pairs") is None
    for x, y in ((0, 1), (64, 2), (7, 63)):
        assert (store.count(x, y) == plain_table(data, x, y, ())).all()
    assert store.kept("pairs") is not None
    monkeypatch.setattr(store_module, "_MOST_LEVELS", 16 * 13 - 1)  # one less than there are
    few = Store(data)
    assert (few.count(0, 1) == store.count(0, 1)).all()
    assert few.kept("pairs") is None


def test_joint_counts() -> None:
    data = random_data(3, 400, SIZES)
    counts = Store(data).rows.counts([4, 0, 2])
    assert counts.shape == (5, 2, 4)
    assert (counts == plain_table(data, 0, 2, (4,)).reshape(5, 2, 4)).all()


@given(st.integers(0, 10_000), st.integers(1, 60))
@settings(max_examples=30)
def test_folding_keeps_every_row(seed: int, n: int) -> None:
    data = random_data(seed, n, (2, 3, 2))
    rows, index = fold(data)
    assert rows.weights.sum() == rows.n == n
    assert (rows.codes[index] == data.codes).all()
    assert len(np.unique(rows.codes, axis=0)) == len(rows.codes)
    assert (np.bincount(index, minlength=len(rows.codes)) == rows.weights).all()


def test_keys_do_not_overflow() -> None:
    """Forty columns of 60 levels: 60^40 is far beyond 64 bits."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 60, (200, 40)).astype(np.uint8)
    codes[100:] = codes[:100]
    keys = mixed_radix_keys(codes, [60] * 40)
    assert (keys[:100] == keys[100:]).all()
    assert len(np.unique(keys)) == 100
    assert keys.min() >= 0


# Subsamples ---------------------------------------------------------------------------

FINE, ROWS_AT_ONCE = 1 << 14, 0  # tables split one after the other; rows drawn at the first table


def binned_fit(got: np.ndarray, right: object) -> float:
    """The chi-square p-value of draws against a frozen discrete distribution, in 16 bins or so."""
    edges = np.unique(right.ppf(np.linspace(0.05, 0.95, 15)).astype(int))  # type: ignore[attr-defined]
    cdf = np.concatenate([[0], right.cdf(edges), [1]])  # type: ignore[attr-defined]
    expected = len(got) * np.diff(cdf)
    observed = np.bincount(np.searchsorted(edges, got), minlength=len(expected))
    kept = expected > 0
    assert observed[~kept].sum() == 0
    statistic = np.sum((observed - expected)[kept] ** 2 / expected[kept])
    return float(chi2.sf(statistic, kept.sum() - 1))


def test_the_roles_of_columns_share_one_count() -> None:
    """x and y given z and w, in any roles: one count is kept, and each table is as if counted."""
    store = Store(load_dataset("alarm", n=3000), limit=1 << 20)
    columns = (30, 3, 17, 8)
    before = store.bytes
    for x, y, *strata in permutations(columns):
        if x < y and strata == sorted(strata):
            counted, alone = store.count(x, y, tuple(strata)), store.rows.table(x, y, strata)
            assert counted.shape == alone.shape
            assert (counted == alone).all()
    cells = math.prod(store.rows.cardinalities[c] for c in columns)
    assert 8 * cells <= store.bytes - before < 2 * 8 * cells + 200


@pytest.mark.parametrize("cells", [FINE, ROWS_AT_ONCE, 5])
@pytest.mark.parametrize("asked_before", [(), ((2, 3, ()),), ((2, 0, (3,)), (1, 3, ()))])
def test_subsample_is_hypergeometric(
    monkeypatch: pytest.MonkeyPatch, cells: int, asked_before: tuple[tuple[int, int, tuple], ...]
) -> None:
    """However the sample is drawn and whatever was asked of it before; chi-square at 1e-5.

    With replacement instead, the variance would be 1 / (1 - m/n) = 1.67 times as large.
    """
    monkeypatch.setattr(subsample.Subsample, "CELLS", cells)
    n, m, draws = 1000, 400, 2500
    rng = np.random.default_rng(5)
    x = rng.integers(0, 2, n)
    codes = np.stack([x, (x + rng.integers(0, 3, n)) % 2, rng.integers(0, 3, n), x], axis=1)
    store = Store(dataset(codes, (2, 2, 3, 2)))
    got = []
    for _ in range(draws):
        sample = draw(store, m, Randomness(rng))
        for query in asked_before:
            sample.table(*query)
        got.append(sample.table(0, 1)[0, 0, 0])
    population = int(np.sum((codes[:, 0] == 0) & (codes[:, 1] == 0)))
    assert binned_fit(np.array(got), hypergeom(n, population, m)) > 1e-5
    assert np.var(got) < 0.8 * m * population / n * (1 - population / n)


# The store ----------------------------------------------------------------------------


def test_store_computes_once() -> None:
    store, calls = Store(random_data(1, 50, SIZES)), []
    for _ in range(3):
        store.keep("key", lambda: calls.append(1))
    assert len(calls) == 1
    assert store.table(0, 1) is store.table(0, 1)


def test_all_stores_share_one_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    shared = Bounded(30_000, store_module._size)
    monkeypatch.setattr(store_module, "_shared", shared)
    stores = [Store(random_data(seed, 50, SIZES)) for seed in range(3)]
    for k in range(60):
        stores[k % 3].keep(k, lambda k=k: np.full(100, k))
        assert shared.bytes <= 30_000
    assert stores[2].kept(59) is not None
    assert stores[0].kept(0) is None  # it made room for another's
    assert all(store.kept(59) is None for store in stores[:2])  # keys do not mix
    before = shared.bytes
    stores.pop()
    gc.collect()
    assert 0 < shared.bytes < before  # what was its own is let go
    stores.clear()
    gc.collect()
    assert shared.bytes == len(shared) == 0


def test_least_recently_used_goes_first() -> None:
    kept = Bounded(3, lambda _: 1)
    for key in "abc":
        kept.lookup(key, lambda key=key: key)
    kept.lookup("a", lambda: "again")
    kept.lookup("d", lambda: "d")
    assert set(kept) == {"a", "c", "d"}
    assert kept["a"] == "a"


def test_a_dataset_all_of_whose_entries_went_leaves_nothing_in_the_index() -> None:
    kept = Bounded(2, lambda _: 1)
    for key in ("a", 1), ("b", 1), ("b", 2):
        kept.lookup(key, lambda: 0)
    assert set(kept._alike) == {"b"}
    kept.forget("b")
    assert not kept
    assert not kept._alike
    assert kept.bytes == 0


def test_one_store_a_dataset_and_none_after_it() -> None:
    data = random_data(1, 50, SIZES)
    store = store_of(data)
    assert store_of(data) is store
    assert store_of(random_data(1, 50, SIZES)) is not store
    gone = weakref.ref(store)
    del data, store
    gc.collect()
    assert gone() is None
