"""The paper's Table 2 on a few small pairs: files, columns, and that it resumes."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from engine.data.simulated_pairs import simulate_pair
from engine.papers import pairs as reproduce_pairs
from engine.papers.report import Work
from engine.studies.sweep import Progress


def test_table2(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few = [simulate_pair(m, n=300, seed=i) for i, m in enumerate(("square", "tanh", "sine"))]
    monkeypatch.setattr(reproduce_pairs, "simulated_pairs", lambda: few)
    work = Work(tmp_path, seeds=2, executor="serial")
    reproduce_pairs.pairs_table2(work)
    table, strict = (pd.read_csv(tmp_path / f"pairs-{n}.csv") for n in ("table2", "strict"))
    assert len(table) == 16
    assert table["right"].between(0, 1).all()
    iqr = table[(table["score"] == "iqr") & (table["ε"] == "1")].iloc[0]
    assert (iqr["claimed ε"], iqr["defended ε"], iqr["paper"]) == (9, 12, 0.508)
    best = strict.set_index(["release", "score"])["right at ε = 2"]
    assert best["a vote (all rows)", "variance"] == 1
    assert "Kaggle" in (tmp_path / "pairs-table2.md").read_text(encoding="utf-8")

    seen: list[Progress] = []
    reproduce_pairs.pairs_table2(
        Work(tmp_path, seeds=2, executor="serial", on_progress=seen.append)
    )
    assert all(p.reused == p.done for p in seen)
