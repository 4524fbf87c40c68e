"""The lazily drawn subsample has the distribution of rows drawn at once, and is consistent."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from engine import load_dataset
from engine.randomness import Randomness
from engine.tables.store import Store
from engine.tables.subsample import Subsample, draw, log_factorials, split, uniforms

GOODNESS = 1e-4


def _fits(values: np.ndarray, law: object, draws: int) -> bool:
    """Chi-square test of integers against a scipy law, rare values pooled."""
    support = np.arange(values.min(), values.max() + 1)
    expected = law.pmf(support) * draws  # type: ignore[attr-defined]
    seen = np.bincount(values - values.min(), minlength=support.size)
    common = expected >= 8
    table = np.append(expected[common], max(draws - expected[common].sum(), 1e-9))
    counts = np.append(seen[common], draws - seen[common].sum())
    statistic = float(((counts - table) ** 2 / table)[table > 1].sum())
    return stats.chi2.sf(statistic, max(1, int((table > 1).sum()) - 1)) > GOODNESS


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
def test_hypergeometric_draws_follow_the_law(good: int, bad: int, sample: int) -> None:
    draws = 20_000
    parts = np.tile(np.array([[good, bad]]), (draws, 1))
    rng = np.random.default_rng(4)
    logs = log_factorials(good + bad)
    drawn = split(parts, np.full(draws, sample), uniforms(rng), logs)
    assert (drawn.sum(axis=1) == sample).all()
    assert _fits(drawn[:, 0], stats.hypergeom(good + bad, good, sample), draws)


def test_edges_of_the_hypergeometric_law() -> None:
    rng = np.random.default_rng(0)
    parts = np.array([[4, 0, 3], [0, 0, 0], [2, 2, 2]])
    drawn = split(parts, np.array([7, 0, 0]), uniforms(rng), log_factorials(7))
    assert drawn.tolist() == [[4, 0, 3], [0, 0, 0], [0, 0, 0]]


def test_looking_logarithms_up_changes_no_draw() -> None:
    """A table may be bigger than what is looked up: its draws are those of a small one's."""
    parts = np.random.default_rng(0).integers(0, 3000, (500, 4))
    drawn = parts.sum(axis=1) // 3
    found = []
    for logs in (log_factorials(int(parts.sum())), log_factorials(100), np.empty(0)):
        rng = np.random.default_rng(5)
        found.append((split(parts, drawn, uniforms(rng), logs).tolist(), rng.random()))
    assert found[0] == found[1] == found[2]


def test_compiled_draws_take_the_generators_own_numbers() -> None:
    """An urn of ten items, one drawn: item by item, one uniform number each."""
    mine, its = np.random.default_rng(3), np.random.default_rng(3)
    for _ in range(200):
        drawn = split(np.array([[4, 6]]), np.array([1]), uniforms(mine), log_factorials(10))
        assert drawn[0, 0] == (its.random() * 10 < 4)
    assert mine.random() == its.random()


@pytest.mark.parametrize("cells", [0, 8, 1 << 14])
def test_tables_of_one_sample_agree(cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether counts or rows were drawn, all tables are margins of one sample of m rows."""
    monkeypatch.setattr(Subsample, "CELLS", cells)
    store = Store(load_dataset("sachs", n=5000))
    sample = draw(store, 700, Randomness(1))
    pair = sample.table(0, 1)
    assert pair.sum() == 700
    assert (pair <= store.table(0, 1)).all()
    wide = sample.table(0, 1, (2, 3))
    assert (wide.sum(axis=0) == pair[0]).all()
    assert (wide <= store.table(0, 1, (2, 3))).all()
    assert (sample.table(1, 2).sum(axis=2)[0] == pair[0].sum(axis=0)).all()
    assert (sample.table(0, 1, (2, 3)) == wide).all()
    far = sample.table(7, 8, (1,))
    assert (far.sum(axis=(1, 2)) == pair[0].sum(axis=0)).all()


def test_all_rows_are_the_rows_themselves() -> None:
    store = Store(load_dataset("asia", n=500))
    assert draw(store, 500, Randomness(0)) is store.rows


def test_with_many_rows_larger_tables_are_drawn_before_rows_are() -> None:
    """To draw rows takes a number for each of all n; up to 2^18 of them nothing changes."""
    few, many = (SimpleNamespace(n=n) for n in (1 << 18, 1 << 20))
    assert draw(few, 5, Randomness(0))._most == Subsample.CELLS
    assert draw(many, 5, Randomness(0))._most == 4 * Subsample.CELLS
    by_row = Randomness(0)
    by_row.by_row = True
    assert draw(many, 5, by_row)._most == 0
