"""The papers reproduced in the small: rows, files, resuming, and the one table of all of them."""

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from engine import load_dataset, run
from engine.__main__ import main
from engine.graphs.known import truth_cpdag
from engine.monitor import Monitor
from engine.papers import curate
from engine.papers import published as papers
from engine.papers.reproduce import STUDIES
from engine.papers.reproduce import page as page_of
from engine.papers.table import MARKS, Row, load, number
from engine.papers.work import Work, arc_f1, at_total, authors_list
from engine.studies.store import ResultStore

ROOT = Path(__file__).resolve().parents[2]
SMALL = ["--n", "1000", "--seeds", "1", "--workers", "1"]


@pytest.mark.parametrize(
    "name", ["theorems", "table3", "curate-table5", "curate-table6", "curate-figure3"]
)
def test_a_reproduction_keeps_its_rows_and_a_table_is_made_of_them(
    name, tmp_path, capsys, monkeypatch
):
    argv = ["reproduce", name, "--out", str(tmp_path), *SMALL]
    monkeypatch.setattr(curate, "ROUND_EPSILONS", curate.ROUND_EPSILONS[::8])
    assert main(argv) == 0
    (measured,) = load(tmp_path, STUDIES).values()
    rows = measured.rows
    assert measured.seconds >= 0
    assert len(rows) >= 1
    assert all(row.marked in MARKS for row in rows)
    if name == "theorems":  # computed without a draw: what the documents hold
        kept = load(ROOT / "benchmarks" / "results" / "reproduction", STUDIES)[name].rows
        assert [row.cells for row in rows] == [row.cells for row in kept]
    if name == "curate-figure3":
        assert (tmp_path / "curate-figure3.svg").read_text().startswith("<svg")
    else:
        with monkeypatch.context() as patched:  # what is kept is not run again
            patched.setattr("engine.studies.study.run_trial", None)
            assert main(argv) == 0
    assert main(["reproduce", "table", "--out", str(tmp_path)]) == 0
    page = (tmp_path / "reproduction.md").read_text()
    assert all(f" | {' | '.join(row.cells[2:7])} | " in page for row in rows)
    assert str(tmp_path / "reproduction.md") in capsys.readouterr().out


def test_table_3_has_the_papers_numbers_and_the_runs_own(tmp_path):
    work = Work(tmp_path, seeds=2, n=1000, workers=1)
    rows = [row for row in STUDIES["table3"](work) if not isinstance(row.paper, str)]
    assert {tuple(row.paper) for row in rows} == set(papers.TABLE3.values())
    once, twice = rows[:2]
    settings = {"guarantee": "published", "delta": 1e-3, "epsilon": 1.0}
    results = [
        run("priv_pc", load_dataset("earthquake", n=1000), seed=s, **settings) for s in (0, 1)
    ]
    assert twice.text[0] == np.mean([r.ci_tests for r in results])
    examined = np.mean([sum(c.label == "examine" for c in r.ledger) for r in results])
    assert once.text[0] == twice.text[0] - examined > 0


def test_the_page_of_the_documents_is_what_was_measured():
    """Written by the command from the rows that are kept, a sentence and a number alike."""
    kept = ROOT / "benchmarks" / "results" / "reproduction"
    page = (ROOT / "research" / "reproduction.md").read_text(encoding="utf-8")
    measured = load(kept, STUDIES)
    assert page == page_of(measured, 100_000)
    stated = {row.item for one in measured.values() for row in one.rows}
    theorems = [f"Kusner Theorem {k}" for k in (1, 2, 3, "4 (1)", "4 (2)", 5, 6, 7)]
    theorems += [f"Priv-PC Theorem {k}" for k in (1, "2, type I", "2, type II", 3, 6, 7, 8, 9)]
    theorems += ["CURATE Lemma 1", "CURATE Lemma 2", "CURATE eq. 16", "Priv-PC Algorithm 5"]
    assert set(theorems) <= stated
    assert {"Priv-PC figure 1", "Priv-PC table 3", "CURATE table 5", "CURATE table 6"} <= stated


def test_the_authors_lists_lack_true_links_and_have_false_ones():
    found = {}
    for name in papers.AUTHORS_LISTS:
        data, listed = load_dataset(name, n=2), authors_list(name)
        true = truth_cpdag(data.truth, data.names)
        links, both = listed | listed.T, true | true.T
        count = (links & both).sum() // 2, (links & ~both).sum() // 2, listed.sum()
        found[name] = tuple(map(int, count))
        assert arc_f1(true, listed) == pytest.approx(
            2 * (true & listed).sum() / (true.sum() + listed.sum())
        )
    assert found == {
        "earthquake": (4, 0, 4), "cancer": (4, 0, 4), "asia": (6, 0, 10), "survey": (4, 0, 6),
        "sachs": (13, 1, 23), "child": (21, 4, 37), "alarm": (35, 8, 61),
    }  # fmt: skip


def test_arcs_are_scored_as_the_authors_did():
    """Of Asia's eight edges three are undirected in its CPDAG, so that they count as six arcs."""
    data = load_dataset("asia", n=10)
    truth = truth_cpdag(data.truth, data.names)
    assert int(truth.sum()) == 11
    assert arc_f1(truth, truth) == 1
    directed = np.triu(truth) | (truth & ~truth.T)  # one arc of each undirected edge
    right, found = int((directed & truth).sum()), int(directed.sum())
    assert arc_f1(directed, truth) == pytest.approx(2 * right / (found + 11))
    assert arc_f1(truth & False, truth & False) == 1


def test_a_run_is_measured_against_truth_and_against_pc(tmp_path):
    found = Work(tmp_path, n=5000, seeds=1, workers=1).runs(["asia"], "pc", {"threshold": 0.1})
    result = run("pc", load_dataset("asia", n=5000), threshold=0.10)
    assert (found["f1_pc"].item(), found["arcs_pc"].item()) == (1.0, 1.0)
    assert found["f1"].item() == result.metrics_all.skeleton_f1
    assert found["arcs"].item() == arc_f1(result.matrix, result.reference_cpdag) < 1


def test_a_curve_is_read_at_a_total_and_nowhere_else():
    curve = pd.DataFrame({"claimed": [1.0, 100.0, np.inf], "f1": [0.2, 0.8, 1.0]})
    assert at_total(curve, 10.0, "f1") == pytest.approx(0.5)  # half way in log epsilon
    assert math.isnan(at_total(curve, 0.5, "f1"))
    assert math.isnan(at_total(curve, 200.0, "f1"))


@pytest.mark.parametrize(
    ("paper", "here", "difference", "mark"),
    [
        ([10.0, 20.0], [10.4, 20.0], "+0% to +4%", "="),
        ([10.0], [12.0], "+20%", "≈"),
        ([10.0, None], [5.0, 7.0], "-50%", "≠"),
        ("picture", [1.0], "–", "="),
    ],
)
def test_a_row_marks_its_difference(paper, here, difference, mark):
    cells = Row("a", "b", paper, here, "why", error=0.01).cells
    assert cells[5:7] == [difference, mark]
    assert cells[4].endswith("± 0.01")


def test_numbers_are_short():
    values = (None, math.nan, math.inf, 12_345.6, 99.94, 0.1234, 0.0, 1e-5)
    assert [number(v) for v in values] == [
        "–", "–", "∞", "12,346", "99.9", "0.123", "0", "1.00e-05",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "more",
    [[], ["figure9"], ["table3", "--out", "/proc/x"], ["table3", "--seeds", "0"],
     ["table3", "--workers", "0"]],
)  # fmt: skip
def test_bad_input_is_one_line(more, capsys):
    out = [] if "--out" in more or not more else ["--out", "unused"]
    assert main(["reproduce", *more, *out]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_a_stop_keeps_what_was_finished(tmp_path):
    seen = []
    monitor = Monitor(lambda share, phrase: seen.append(phrase), stop=lambda: len(seen) > 2)
    asked = (["cancer"], "svt_pc", {"guarantee": "published", "epsilon": [0.1, 1.0]}, 40)
    with pytest.raises(KeyboardInterrupt):
        Work(tmp_path, n=500, workers=1, monitor=monitor).runs(*asked)
    with ResultStore(tmp_path / "runs.db") as store:
        assert len(store) == len(seen) == 3
    assert len(Work(tmp_path, n=500, workers=1).runs(*asked)) == 80
