"""Tables of all pairs at once are those of each pair."""

import numpy as np
import pytest

from engine import Dataset, run
from engine.tables import pairs
from engine.tables.pairs import Pairs
from engine.tables.rows import fold
from engine.tables.store import Store


def wide(n: int, d: int, *, heavy: bool = False) -> Dataset:
    """Columns of 1 to 5 levels, each a noisy copy of the one before; folded if ``heavy``."""
    rng = np.random.default_rng(n + d)
    levels = rng.integers(1, 6, d)
    codes = rng.integers(0, levels, (n, d))
    for j in range(1, d):
        again = rng.random(n) < 0.7
        codes[again, j] = codes[again, j - 1] % levels[j]
    names = [[str(k) for k in range(size)] for size in levels]
    weights = rng.integers(1, 9_000_000, n) if heavy else None
    return Dataset.from_codes(codes, None, names, public=True, weights=weights)


@pytest.mark.parametrize(("n", "heavy"), [(9000, False), (150, True)])
def test_every_pair_has_its_own_table(n: int, heavy: bool) -> None:
    """Three blocks of rows; weights whose sum is beyond what 32 bits of floating point hold."""
    data = wide(n, 12, heavy=heavy)
    rows = fold(data)[0]
    assert (data.n >= pairs._EXACT) == heavy
    found = Pairs(rows)
    for x in range(12):
        for y in range(12):
            if x != y:
                assert np.array_equal(found.table(x, y), rows.table(x, y))


def test_a_search_on_many_columns_counts_pairs_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """A store with many columns makes one product for all pairs, and the search finds the same."""
    data, made = wide(400, pairs.WIDE), []
    count = Pairs._counted
    monkeypatch.setattr(Pairs, "_counted", lambda self, rows: made.append(1) or count(self, rows))
    together = run("pc", data, statistic="g2", max_order=1, trace=False)
    assert made == [1]
    monkeypatch.setattr(pairs, "WIDE", pairs.WIDE + 1)
    alone = run("pc", wide(400, pairs.WIDE - 1), statistic="g2", max_order=1, trace=False)
    assert made == [1]
    assert together.matrix.tobytes() == alone.matrix.tobytes()
    assert together.matrix.any()


def test_the_product_is_dropped_with_its_store() -> None:
    store = Store(wide(50, pairs.WIDE), limit=1 << 20)
    before = store.bytes
    store.count(0, 1)
    assert store.bytes > before
