"""The ZIP of a run: its script gives the same run again, and own data stay out of it."""

import csv
import io
import json
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from engine import Knowledge, load_dataset, run
from engine.cli.run import summary
from engine.data.dataset import Dataset
from engine.marginals.diagnostics import MarginalDiagnostics
from engine.request import Request, Source
from engine.serialise import result_dict
from pages.report.bundle import bundle

ROOT = Path(__file__).resolve().parents[2]


def files_of(archive):
    with zipfile.ZipFile(io.BytesIO(archive)) as found:
        return {name: found.read(name).decode() for name in found.namelist()}


def executed(folder):
    """Run the script as a program, in this process: another would spend its seconds on imports."""
    script = folder / "reproduce.py"
    code = compile(script.read_text("utf-8"), script, "exec")
    exec(code, {"__name__": "__main__", "__file__": str(script)})


@pytest.mark.parametrize(
    ("key", "values", "known"),
    [
        ("pc", {}, None),
        ("priv_pc", {"epsilon": 4.0, "guarantee": "strict"}, None),
        ("priv_pc", {"epsilon": 4.0, "guarantee": "published"}, None),
        ("marginal_pc", {"epsilon": 1.0}, Knowledge(roots=["Smoker"])),
        ("curate_notears", {"epsilon": 1.0, "guarantee": "strict"}, None),
        ("curate_notears", {"epsilon": 1.0, "guarantee": "published"}, None),
    ],
)
def test_the_script_gives_the_same_run(key, values, known, tmp_path, capsys):
    request = Request(Source("cancer", 2000, 4), key, values, 11, known)
    data = request.source.load()
    result = request.run(data)
    with zipfile.ZipFile(io.BytesIO(bundle(request, data, result, {}))) as found:
        found.extractall(tmp_path)
    executed(tmp_path)
    *edges, last = capsys.readouterr().out.splitlines()
    assert last == "The same edges and numbers as in the file."
    assert len(edges) == len(result.skeleton)
    assert f"numpy=={np.__version__}\n" in (tmp_path / "requirements.txt").read_text()
    if key == "priv_pc":
        settings = tmp_path / "settings.json"
        settings.write_text(settings.read_text().replace('"seed": 11', '"seed": 12'))
        with pytest.raises(SystemExit, match="differs"):
            executed(tmp_path)


def test_what_is_in_it_belongs_to_the_run():
    request = Request(Source("asia", 2000), params={"epsilon": 2})
    data = request.source.load()
    result = request.run(data)
    archive = bundle(request, data, result, {"a.svg": "<svg/>"})
    files = files_of(archive)
    rows = list(csv.DictReader(io.StringIO(files["edges.csv"])))
    assert {frozenset((r["source"], r["target"])) for r in rows} == result.skeleton
    record = json.loads(files["result.json"])
    assert len(record["ledger"]) == len(result.ledger)
    assert record["proven"] == {"epsilon": 2.0, "delta": 1e-6}
    assert record["metrics_all"]["skeleton_f1"] == result.metrics_all.skeleton_f1
    assert json.loads(files["settings.json"])["seed"] == 0
    assert {"graph.dot", "graph.graphml", "graph.dagitty.txt", "graph.tetrad.txt"} <= set(files)
    assert files["a.svg"] == "<svg/>"
    assert archive == bundle(request, data, result, {"a.svg": "<svg/>"})


def test_an_arrow_in_doubt_is_a_line_in_every_file_and_both_confidences_stand_beside():
    """An arrow that is sure enough, one the other way that is not, and a line."""
    data = load_dataset("cancer", n=500)
    matrix = np.zeros((5, 5), dtype=bool)
    matrix[0, 1] = matrix[2, 1] = matrix[2, 3] = matrix[3, 2] = True
    arrows = {(0, 1): 0.6, (1, 0): 0.0, (2, 1): 0.59, (1, 2): 0.2, (2, 3): 0.125, (3, 2): 0.1}
    known = MarginalDiagnostics(
        edge_confidence={(0, 1): 0.7, (1, 2): 0.998, (2, 3): 1.0}, direction_confidence=arrows
    )
    result = replace(run("marginal_pc", data), matrix=matrix, diagnostics=known)
    a, b, c, d, _ = data.names
    assert result_dict(result)["low_confidence"] == [[c, b]]
    files = files_of(bundle(Request(Source("cancer", 500)), data, result, {}))
    shown = ["source", "target", "edge_confidence", "direction_confidence", "class"]
    header, *rows = csv.reader(io.StringIO(files["edges.csv"]))
    assert header == [*shown, "link", "arrow"]
    assert sorted(row[:5] for row in rows) == sorted(
        [
            [a, b, "0.7", "0.6", "directed"],
            [c, b, "0.998", "0.59", "undirected"],
            [c, d, "1.0", "0.125", "undirected"],
        ]
    )
    assert (files["graph.dot"].count("->"), files["graph.dot"].count("dir=none")) == (3, 2)
    for name, line, arrow in (("tetrad", "---", "-->"), ("dagitty", "--", "->")):
        held = [edge.split() for edge in files[f"graph.{name}.txt"].splitlines()]
        assert sum(line in edge for edge in held) == 2
        assert sum(arrow in edge for edge in held) == 1
    printed = summary(result).splitlines()
    lines = [(a, "->", b), (min(b, c), "--", max(b, c)), (min(c, d), "--", max(c, d))]
    assert printed[1:4] == [f"  {x} {m} {y}" for x, m, y in sorted(lines)]
    assert printed[4] == "  1 undirected edge (--) with direction confidence below 60 %"
    assert "of 60 % an edge is\nundirected" in files["README.txt"]


def test_own_data_leave_no_seed_score_time_or_fingerprint():
    sample = load_dataset("asia", n=500)
    data = Dataset.from_codes(
        sample.codes, sample.names, sample.levels, name="secret.csv", truth=sample.truth
    )
    own = run("priv_pc", data, seed=81925417, epsilon=2.0)
    files = files_of(bundle(Request(Source("own"), seed=None), data, own, {}))
    whole = "\n".join(files.values())
    hidden = ("81925417", data.fingerprint, data.name, f"{own.seconds}", "skeleton_f1")
    assert not [word for word in hidden if word in whole]
    paid = {"claimed", "proven", "guaranteed_epsilon", "no_guarantee_reasons", "ledger"}
    assert set(json.loads(files["result.json"])) == paid
    assert not any(name.endswith(".py") for name in files)
