"""Contingency tables against plain counting; subsamples against their exact distribution."""

from __future__ import annotations

import gc
import math
import weakref
from itertools import permutations, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2, hypergeom, multivariate_hypergeom

import engine.tables.store as store_module
from engine import load_dataset
from engine.data.dataset import Dataset
from engine.data.distinct import mixed_radix_keys
from engine.randomness import Randomness
from engine.tables import rows, subsample
from engine.tables.hypergeometric import hypergeometric, log_factorials, uniforms
from engine.tables.rows import Rows, fold
from engine.tables.store import Bounded, Store, store_of
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
    unfolded = Rows(np.array(data.codes, order="F"), np.empty(0, np.int32), data.cardinalities, n)
    assert (unfolded.table(x, y, given_) == expected).all()


def test_table_against_pandas() -> None:
    data = load_dataset("sachs", n=3000, seed=1)
    frame = pd.DataFrame(data.codes, columns=list(data.names))
    x, y, z = data.names[2], data.names[7], data.names[1]
    counted = store_of(data).table(2, 7, (1,))
    for stratum in range(data.cardinalities[1]):
        part = frame[frame[z] == stratum]
        expected = pd.crosstab(part[x], part[y]).reindex(
            index=range(data.cardinalities[2]), columns=range(data.cardinalities[7]), fill_value=0
        )
        assert (counted[stratum] == expected.to_numpy()).all()


@pytest.mark.parametrize("n", [1, 300, 5000])
def test_sparse_tables_are_the_occupied_strata(monkeypatch: pytest.MonkeyPatch, n: int) -> None:
    data = random_data(2, n, SIZES)
    dense = Store(data).table(3, 4, (0, 1, 2))
    monkeypatch.setattr(rows, "DENSE_CELLS", 100)
    sparse = Store(data).rows.table(3, 4, (0, 1, 2))
    assert (sparse == dense[dense.any(axis=(1, 2))]).all()
    whole = Rows(np.array(data.codes, order="F"), np.empty(0, np.int32), data.cardinalities, n)
    assert (whole.table(3, 4, (0, 1, 2)) == sparse).all()


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


@pytest.mark.parametrize("cells", [FINE, ROWS_AT_ONCE, 5])
def test_sample_cells_are_jointly_hypergeometric(
    monkeypatch: pytest.MonkeyPatch, cells: int
) -> None:
    """All outcomes of 4 rows of 9 over 2 x 2 cells, against the exact probabilities (1e-5)."""
    monkeypatch.setattr(subsample.Subsample, "CELLS", cells)
    codes = np.array([[0, 0]] * 2 + [[0, 1]] * 3 + [[1, 0]] + [[1, 1]] * 3)
    store, rng, draws = Store(dataset(codes, (2, 2))), np.random.default_rng(8), 6000
    seen: dict[tuple[int, ...], int] = {}
    for _ in range(draws):
        outcome = tuple(draw(store, 4, Randomness(rng)).table(0, 1).ravel().tolist())
        seen[outcome] = seen.get(outcome, 0) + 1
    right = multivariate_hypergeom([2, 3, 1, 3], 4)
    expected = {o: draws * right.pmf(o) for o in product(range(5), repeat=4) if sum(o) == 4}
    possible = {o: e for o, e in expected.items() if e > 0}
    assert set(seen) <= set(possible)
    statistic = sum((seen.get(o, 0) - e) ** 2 / e for o, e in possible.items())
    assert chi2.sf(statistic, len(possible) - 1) > 1e-5


@pytest.mark.parametrize(
    ("good", "bad", "sample"),
    [
        *((3, 4, 5), (1, 100, 50), (100, 1, 50), (50, 50, 9), (400, 600, 300)),
        *((900, 100, 700), (20, 100_000, 30_000), (99_000, 1_000, 500), (5_000, 5_000, 9_990)),
        *((70_000, 30_000, 16_542), (12, 9, 11), (11, 10, 10)),
    ],
)
def test_hypergeometric_draws(good: int, bad: int, sample: int) -> None:
    """Our compiled sampler, in all its branches, against scipy's distribution (1e-5)."""
    rng = np.random.default_rng(good + bad)
    args = good, bad, sample, uniforms(rng), log_factorials(good + bad)
    got = np.array([hypergeometric(*args) for _ in range(6000)])
    assert binned_fit(got, hypergeom(good + bad, good, sample)) > 1e-5


def test_the_fit_has_power() -> None:
    """Two per cent more good items is noticed, and so is drawing with replacement."""
    rng = np.random.default_rng(1)
    right = hypergeom(1000, 400, 300)
    assert binned_fit(rng.hypergeometric(408, 592, 300, 6000), right) < 1e-5
    assert binned_fit(rng.binomial(300, 0.4, 6000), right) < 1e-5
    assert binned_fit(rng.hypergeometric(400, 600, 300, 6000), right) > 1e-5


@pytest.mark.parametrize("m", [1, 10, 999])
@pytest.mark.parametrize("name", ["asia", "alarm"])
@pytest.mark.parametrize("cells", [FINE, ROWS_AT_ONCE, 40])
def test_sample_is_one_set_of_rows(
    monkeypatch: pytest.MonkeyPatch, name: str, m: int, cells: int
) -> None:
    """Every table asked of one sample has m rows of the data and agrees with the others."""
    monkeypatch.setattr(subsample.Subsample, "CELLS", cells)
    data = load_dataset(name, n=1000, seed=1)
    store = Store(data)
    sample = draw(store, m, Randomness(0))
    assert sample.n == m
    queries = [(0, 1, ()), (2, 3, (1,)), (1, 4, (2, 5)), (0, 1, (6,)), (3, 7, ()), (0, 1, ())]
    answers = [np.array(sample.table(*q)) for q in queries]
    for query, counts in zip(queries, answers, strict=True):
        assert counts.sum() == m
        assert (counts >= 0).all()
        assert (counts <= store.table(*query)).all()
        assert (np.array(sample.table(*query)) == counts).all()
    assert (answers[0] == answers[5]).all()
    assert (answers[3].sum(axis=0) == answers[0][0]).all()  # 0, 1 with 6 summed out
    ones = [answers[0][0].sum(axis=0), answers[1].sum(axis=(1, 2))]  # column 1 twice
    assert (ones[0] == ones[1]).all()
    assert (answers[1].sum(axis=(0, 1)) == answers[4][0].sum(axis=1)).all()  # column 3 twice


def test_whole_data_is_no_draw_at_all() -> None:
    store, rng = Store(random_data(1, 50, SIZES)), np.random.default_rng(0)
    before = rng.bit_generator.state
    assert draw(store, 50, Randomness(rng)) is store.rows
    assert draw(store, 80, Randomness(rng)) is store.rows
    assert rng.bit_generator.state == before


# The store ----------------------------------------------------------------------------


def test_store_computes_once() -> None:
    store, calls = Store(random_data(1, 50, SIZES)), []
    for _ in range(3):
        store.keep("key", lambda: calls.append(1))
    assert len(calls) == 1
    assert store.table(0, 1) is store.table(0, 1)


def test_store_stays_within_its_bound() -> None:
    store = Store(random_data(1, 50, SIZES), limit=20_000)
    for k in range(100):
        store.keep(k, lambda: np.zeros(100))
        assert store.bytes <= 20_000
    calls: list[int] = []
    store.keep(99, lambda: calls.append(1))  # the newest is still there
    store.keep(0, lambda: calls.append(0))  # the oldest is not
    assert calls == [0]


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
