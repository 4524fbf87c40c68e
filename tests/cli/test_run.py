"""The command line: the fixed JSON, and one line on standard error for bad input."""

import json
import sys
from pathlib import Path

import pytest

from engine import ALGORITHMS
from engine.__main__ import main

SAMPLES = Path(__file__).resolve().parents[2] / "sample_data"


def stdout_json(capsys, *argv):
    assert main(argv) == 0
    return json.loads(capsys.readouterr().out)


def test_algorithms_json_lists_every_parameter(capsys):
    listed = stdout_json(capsys, "algorithms", "--json")
    assert [a["key"] for a in listed] == list(ALGORITHMS)
    for entry in listed:
        specs = ALGORITHMS[entry["key"]].params.specs()
        assert [p["name"] for p in entry["parameters"]] == [s.name for s in specs]
        assert all({"default", "low", "high"} <= p.keys() for p in entry["parameters"])


def test_what_is_known_comes_from_a_file(capsys, tmp_path):
    known = tmp_path / "known.txt"
    known.write_text("/knowledge\naddtemporal\n1 Pollution Smoker\n2 Cancer\n3 Xray Dyspnoea\n")
    argv = ["run", "--dataset", "cancer", "--n", "20000", "--algorithm", "marginal_pc"]
    argv += ["--knowledge", str(known)]
    printed = stdout_json(capsys, *argv, "--json")
    assert printed["knowledge"]["tiers"] == [["Pollution", "Smoker"], ["Cancer"],
                                             ["Dyspnoea", "Xray"]]  # fmt: skip
    fixed, edges = printed["knowledge"]["fixed"], printed["cpdag"]
    assert fixed["directions"] == sum([b, a] not in edges for a, b in edges)
    assert printed["knowledge"]["alone"]["skeleton_f1"] == printed["metrics_all"]["skeleton_f1"]
    assert main(argv) == 0
    said = f"background knowledge fixes {fixed['directions']} of {fixed['edges']} directions"
    assert said in capsys.readouterr().out
    known.write_text('{"format": "dp-causal-explorer/knowledge", "version": 1, "roots": ["xray"]}')
    assert main(argv) == 2
    assert "Did you mean 'Xray'?" in capsys.readouterr().err


def test_own_data(capsys):
    csv, truth = SAMPLES / "asia_2000.csv", SAMPLES / "asia_edges.csv"
    for rows, usual in ((f"--csv={csv}", "marginal_pc"), ("--dataset=asia", "priv_pc")):
        assert stdout_json(capsys, "run", rows, "--n=2000", "--json")["algorithm"] == usual
    printed = stdout_json(
        capsys, "run", "--csv", str(csv), "--truth", str(truth), "--algorithm", "pc", "--json"
    )
    assert printed["metrics_all"]["recall"] > 0
    assert printed["proven"]["epsilon"] == "inf"
    assert all(step["internal"] is None for step in printed["steps"])  # never for own data


@pytest.mark.parametrize("terminal", [True, False])
def test_a_run_draws_its_progress_in_a_terminal_alone(capsys, monkeypatch, terminal):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    assert main(["run", "--dataset", "child", "--n", "2000"]) == 0
    assert ("\r\033[Korder 0" in capsys.readouterr().err) == terminal


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        ("run --dataset asia --epsilon -1", "epsilon"),
        ("run --dataset asia --epsilon much", "epsilon"),
        ("run --dataset asia --bogus 3", "bogus"),
        ("run --dataset asia --n 1", "n must be"),
        ("run --dataset asia --seed -1", "seed"),
        ("run --dataset asia --truth x.csv", "--csv"),
        ("run --csv missing.csv", "missing.csv"),
        ("run --dataset asia --schema x.json", "--csv"),
        ("run --csv x.csv --schema missing.json", "missing.json"),
        ("run", "--dataset"),
        ("fly", "run"),
        ("", "run"),
    ],
)
def test_bad_input_is_one_line_and_status_2(capsys, argv, says):
    assert main(argv.split()) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert says in err


@pytest.mark.parametrize(
    ("line", "flag", "least"),
    [
        ("audit", "--runs", 4),
        ("plan --schema s.json --rows 9", "--draws", 2),
        ("plan --schema s.json --rows 9", "--seed", 0),
        ("reproduce theorems --out papers", "--seeds", 1),
        ("reproduce theorems --out papers", "--n", 1),
        ("reproduce theorems --out papers", "--workers", 1),
        ("scene --out s.json", "--draws", 1),
        ("sweep --dataset asia", "--workers", 1),
        ("synthetic r.json", "--rows", 2),
        ("synthetic r.json", "--seed", 0),
    ],
)
def test_a_whole_number_has_its_least_value(capsys, line, flag, least):
    """Nothing begins: another flag is unknown."""
    for value in (least - 1, least):
        assert main([*line.split(), f"{flag}={value}", "--bogus"]) == 2
        assert (f"must be at least {least}" in capsys.readouterr().err) == (value < least)
