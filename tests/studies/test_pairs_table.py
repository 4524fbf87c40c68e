"""The paper's Table 2 on a few small pairs: files, columns, and that it resumes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import networkx as nx
import pandas as pd
import pytest

from engine import InputError
from engine.data.simulated_pairs import simulate_pair
from engine.papers import pairs as reproduce_pairs
from engine.papers.report import Work
from engine.studies.study import Progress


def accuracy(folder: Path, patch: pytest.MonkeyPatch, *, turned: bool) -> dict[str, float]:
    """What is written of three pairs on which the model holds, or that are told the wrong way."""
    few = [simulate_pair(m, n=500, seed=i) for i, m in enumerate(("square", "tanh", "sine"))]
    if turned:
        few = [replace(p, truth=nx.reverse(p.truth), name=f"{p.name} turned") for p in few]
    patch.setattr(reproduce_pairs, "read_tuebingen", lambda path: few)
    folder.mkdir()
    reproduce_pairs.pairs_accuracy(Work(folder, executor="serial", pairs=folder / "none.whl"))
    kept = json.loads((folder / "pairs-accuracy.json").read_text(encoding="utf-8"))
    assert (kept["pairs"], kept["splits"]) == (3, 2)
    return {f"{way['release']}, {way['by']}": way["right"] for way in kept["ways"]}


def test_accuracy_without_noise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who is told every cause the wrong way round is right where the other is wrong."""
    right = accuracy(tmp_path / "a", monkeypatch, turned=False)
    wrong = accuracy(tmp_path / "b", monkeypatch, turned=True)
    assert len(right) == 8
    assert wrong == {way: pytest.approx(1 - share) for way, share in right.items()}
    assert right["one difference, root_hsic"] >= 5 / 6
    with pytest.raises(InputError, match="--pairs"):
        reproduce_pairs.pairs_accuracy(Work(tmp_path, executor="serial"))


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
