"""The command line: the fixed JSON, and one line on standard error for bad input."""

import json
import math
from pathlib import Path

import pytest

from engine import ALGORITHMS, load_dataset, run
from engine.__main__ import main
from engine.graphs.cpdag import unordered

SAMPLES = Path(__file__).resolve().parents[2] / "sample_data"


def stdout_json(capsys, *argv):
    assert main(argv) == 0
    return json.loads(capsys.readouterr().out)


def test_run_prints_the_fields_of_the_result(capsys):
    argv = "run --dataset asia --n 5000 --algorithm priv_pc --epsilon 1 --guarantee strict --seed 3"
    printed = stdout_json(capsys, *argv.split(), "--json")
    result = run("priv_pc", load_dataset("asia", n=5000), epsilon=1.0, guarantee="strict", seed=3)
    assert printed["skeleton"] == [list(p) for p in unordered(result.skeleton)]
    assert printed["ci_tests"] == result.ci_tests
    assert printed["ci_tests_by_order"] == list(result.ci_tests_by_order)
    assert printed["metrics"]["skeleton_f1"] == result.metrics.skeleton_f1
    assert printed["spent"] == {"epsilon": result.spent.epsilon, "delta": result.spent.delta}
    assert printed["claimed"] is None
    assert len(printed["ledger"]) == len(result.ledger)
    assert len(printed["steps"]) == len(result.steps)
    assert printed["status"] == result.status


def test_of_no_link_nothing_is_said_to_be_precise(capsys):
    """As on the pages, where it is a dash too."""
    argv = "run --dataset cancer --n 2000 --algorithm marginal_pc --epsilon 0.01 --seed 0"
    assert main(argv.split()) == 0
    assert "skeleton F1 0.000, precision –, recall 0.000" in capsys.readouterr().out


def test_infinity_is_the_string_inf(capsys):
    printed = stdout_json(
        capsys, "run", "--dataset", "cancer", "--n", "1000", "--algorithm", "pc", "--json"
    )
    assert printed["spent"]["epsilon"] == "inf"
    assert math.isinf(run("pc", load_dataset("cancer", n=1000)).spent.epsilon)


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
    settled, edges = printed["knowledge"]["settled"], printed["cpdag"]
    assert settled["directions"] == sum([b, a] not in edges for a, b in edges)
    assert printed["knowledge"]["alone"]["skeleton_f1"] == printed["metrics"]["skeleton_f1"]
    assert main(argv) == 0
    said = f"what is known settles {settled['directions']} of {settled['links']} directions"
    assert said in capsys.readouterr().out
    known.write_text('{"format": "dp-causal-explorer/knowledge", "version": 1, "roots": ["xray"]}')
    assert main(argv) == 2
    assert "Did you mean 'Xray'?" in capsys.readouterr().err


def test_own_data(capsys):
    csv, truth = SAMPLES / "asia_2000.csv", SAMPLES / "asia_edges.csv"
    printed = stdout_json(
        capsys, "run", "--csv", str(csv), "--truth", str(truth), "--algorithm", "pc", "--json"
    )
    assert printed["metrics"]["recall"] > 0
    assert all(step["internal"] is None for step in printed["steps"])  # never for own data


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        ("run --dataset asa", "asia"),
        ("run --dataset asia --epsilon -1", "epsilon"),
        ("run --dataset asia --epsilon much", "epsilon"),
        ("run --dataset asia --algorithm privpc", "priv_pc"),
        ("run --dataset asia --bogus 3", "bogus"),
        ("run --dataset asia --n 1", "n must be"),
        ("run --dataset asia --seed -1", "seed"),
        ("run --dataset asia --truth x.csv", "--csv"),
        ("run --csv missing.csv", "missing.csv"),
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


def test_what_matches_no_level_is_told_and_much_of_it_is_agreed_to(capsys, tmp_path):
    file, schema = tmp_path / "own.csv", tmp_path / "s.json"
    file.write_text("a,b\n" + "x,y\nz,w\nstrange,y\n" * 40)
    a = {"name": "a", "type": "ordered", "levels": ["x", "z"], "other": "x"}
    two = [a, {"name": "b", "type": "ordered", "levels": ["w", "y"], "other": "w"}]
    content = {"format": "dp-causal-explorer/schema", "version": 1, "columns": two}
    schema.write_text(json.dumps(content))
    asked = ["run", "--csv", str(file), "--schema", str(schema), "--algorithm", "pc"]
    assert main(asked) == 2
    out, err = capsys.readouterr()
    assert "--accept-unforeseen" in err
    assert err.splitlines()[2].split() == ["a", "40", "33", "%", "'strange'", "x"]
    assert "strange" not in out
    assert main([*asked, "--accept-unforeseen"]) == 0
    assert "strange" not in capsys.readouterr().out
