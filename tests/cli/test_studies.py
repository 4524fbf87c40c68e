"""engine sweep and reproduce."""

import json

import pytest

from engine import Schema, load_dataset
from engine.__main__ import main
from engine.studies.store import ResultStore

SMALL = ["--dataset", "cancer", "--n", "2000", "--guarantee", "published", "--delta", "1e-3"]


def test_sweep_prints_one_object_a_run(capsys, tmp_path):
    out = tmp_path / "s.db"
    flags = ["--algorithm", "priv_pc,pc", "--epsilon", "0.5,5", "--seeds", "2"]
    assert main(["sweep", *SMALL, *flags, "--out", str(out), "--json"]) == 0
    printed = capsys.readouterr()
    runs = json.loads(printed.out)
    assert len(runs) == 2 * 2 + 2
    assert {r["params"].get("epsilon") for r in runs} == {0.5, 5.0, None}
    metrics = {"skeleton_f1", "directed_f1", "precision", "recall", "shd"}
    assert runs[0]["metrics_all"].keys() == metrics
    assert printed.err == ""
    with ResultStore(out) as store:
        assert len(store) == len(runs)


def test_sweep_is_told_what_is_known(capsys, tmp_path):
    """By a file, or by the name of what is true of each network."""
    known = tmp_path / "known.txt"
    known.write_text("/knowledge\naddtemporal\n1 Pollution Smoker\n2 Cancer\n3 Xray Dyspnoea\n")
    flags = ["--epsilon", "1", "--seeds", "1", "--json", "--knowledge"]
    prints = []
    for word in (str(known), "complete-order"):
        assert main(["sweep", "--dataset", "cancer", "--n", "2000", *flags, word]) == 0
        (cell,) = json.loads(capsys.readouterr().out)
        prints.append(cell["fingerprint"])
    assert prints[0] != prints[1]


def test_a_sweep_of_own_rows_says_what_it_cost_and_no_file_is_overwritten(capsys, tmp_path):
    table, schema, study = (str(tmp_path / f"own.{end}") for end in ("csv", "json", "db"))
    frame = load_dataset("cancer", n=300).to_frame()
    frame.to_csv(table, index=False)
    Schema.draft(frame).declare(*frame.columns).save(schema)
    own = f"sweep --csv {table} --schema {schema} --epsilon 0.5 --seeds 3".split()
    assert main([*own, "--out", study]) == 0
    assert "own: 3 runs, together ε = 1.5, δ = " in capsys.readouterr().err
    figure = f"figure {study} --y ci_tests --out {tmp_path}/own.pdf".split()  # numbers: own.csv
    for refused in ([*own, "--target", "0.8"], ["table", study, "--out", table], figure):
        assert main(refused) == 2


@pytest.mark.parametrize(
    "argv",
    [
        ["sweep"],
        ["sweep", "--dataset", "asia", "--knowledge", "three-tiers"],
        ["sweep", "--dataset", "asia", "--epsilon", "1,x"],
        ["sweep", "--dataset", "asia", "--epsilon", "1,,2"],
        ["sweep", "--dataset", "asia", "--n", "200", "--target", "1.5"],
        ["sweep", "--dataset", "asia", "--out", "/nowhere/s.db"],
        ["sweep", "--dataset", "asia", "--out", "a\nb/s.db"],
        ["sweep", "--dataset", "asia", "--scheduler", "host"],
        ["sweep", "--csv", "no.csv"],
        ["scene", "--dataset", "cancer", "--n=99", "--algorithm=priv_pc", "--out", "/dev/null"],
    ],
)
def test_bad_input_is_status_2_and_one_line(argv, capsys, monkeypatch):
    monkeypatch.setattr("engine.studies.study.run_trial", None)  # it is found before the first run
    assert main(argv) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert len(printed.err.splitlines()) == 1
