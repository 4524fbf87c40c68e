"""Kusner's table and figures on a few small pairs."""

import json
from dataclasses import replace

import networkx as nx
import pandas as pd
import pytest

from engine import InputError
from engine.data.pairs import simulate_pair
from engine.papers import pairs
from engine.papers.work import Work


def few(n):
    return [simulate_pair(m, n=n, seed=i) for i, m in enumerate(("square", "tanh", "sine"))]


def accuracy(folder, patch, *, reversed_truth):
    """What is written of three pairs on which the model holds, or with the truth reversed."""
    found = few(500)
    if reversed_truth:
        found = [replace(p, truth=nx.reverse(p.truth), name=f"{p.name} reversed") for p in found]
    patch.setattr(pairs, "read_tuebingen", lambda path: found)
    folder.mkdir()
    rows = pairs.pairs_accuracy(Work(folder, workers=1, pairs=folder / "none.whl"))
    kept = json.loads((folder / "pairs-accuracy.json").read_text(encoding="utf-8"))
    assert (kept["pairs"], kept["splits"], len(kept["ways"])) == (3, 2, len(rows))
    return {f"{way['release']}, {way['by']}": way["right"] for way in kept["ways"]}


def test_accuracy_without_noise(tmp_path, monkeypatch):
    """Where every cause is reversed, what was right is wrong."""
    right = accuracy(tmp_path / "a", monkeypatch, reversed_truth=False)
    wrong = accuracy(tmp_path / "b", monkeypatch, reversed_truth=True)
    assert len(right) == 8
    assert wrong == {way: pytest.approx(1 - share) for way, share in right.items()}
    assert right["one difference, root_hsic"] >= 5 / 6
    with pytest.raises(InputError, match="--pairs"):
        pairs.pairs_accuracy(Work(tmp_path, workers=1))


def test_the_error_of_table2_is_over_pairs(tmp_path, monkeypatch):
    """Means of .75 and .25, so a deviation of .354, over the root of two pairs."""
    shares = {epsilon: [1.0, 0.5, 0.0, 0.5] for epsilon in pairs.papers.PAIRS_EPSILONS}
    chances = pd.DataFrame({"pair": ["a", "a", "b", "b"], **shares})
    monkeypatch.setattr(pairs, "simulated_pairs", list)
    monkeypatch.setattr(pairs, "_chances", lambda *asked: chances)
    for row in pairs.pairs_table2(Work(tmp_path, workers=1)):
        assert (list(row.text), row.error) == ([0.5] * 4, pytest.approx(0.25))


def test_table2_and_figures(tmp_path, monkeypatch):
    monkeypatch.setattr(pairs, "simulated_pairs", lambda: few(300))
    work = Work(tmp_path, seeds=2, workers=1)
    rows = pairs.pairs_table2(work)
    assert [list(row.paper) for row in rows] == [
        list(v) for v in pairs.papers.PAIRS_TABLE2.values()
    ]
    assert all(0 <= share <= 1 for row in rows for share in row.text)
    hsic = rows[list(pairs.papers.PAIRS_TABLE2).index("hsic")].text
    assert hsic[0] > hsic[1] > hsic[2] > hsic[3] > 0.5  # no draw: it falls with epsilon at once
    one, null = pairs.pairs_figure1(work)
    assert one.item == "Kusner figure 1"
    assert "never" in null.text
    (two,) = pairs.pairs_figure2(work)
    assert "λ" in two.reason
    for k in (1, 2):
        assert (tmp_path / f"pairs-figure{k}.svg").read_text().startswith("<svg")
    assert pairs.pairs_table2(Work(tmp_path / "again", seeds=2, workers=1)) == rows
