"""The count of how often intervals hold: sums over draws that go on where they ended."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks import effects
from benchmarks.effects import Cell, Sums


def test_sums_know_the_mean_and_its_error() -> None:
    sums, values = Sums(), [0.9, 1.0, 0.85, 0.95]
    assert (sums.mean, sums.error) == (None, None)
    for value in values:
        sums.add(value)
    assert sums.mean == pytest.approx(np.mean(values))
    assert sums.error == pytest.approx(np.std(values, ddof=1) / 2)


def test_draws_are_added_to_what_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three draws at once are two, kept and read, and one more."""
    monkeypatch.setattr(effects, "KEPT", tmp_path / "effects.jsonl")
    monkeypatch.setattr(effects, "PAIRS", 4)
    monkeypatch.setattr(effects, "LEAST", 0)

    def drawn(cells: list[Cell], draws: int) -> list[Cell]:
        effects.measure("cancer", 2000, cells, draws, 60.0)
        return cells

    whole = drawn([Cell("cancer", 2000, 1.0), Cell("cancer", 2000, 10.0)], 3)
    effects.keep(drawn([Cell("cancer", 2000, 1.0), Cell("cancer", 2000, 10.0)], 2))
    again = drawn(list(effects.kept().values()), 3)
    for one, other in zip(whole, again, strict=True):
        assert (one.key, one.draws) == (other.key, other.draws)
        assert one.true == other.true
        assert one.learned == other.learned
        assert one.true.asked == 3 * 4
