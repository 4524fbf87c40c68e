"""The ZIP of a run: its script gives the same run again, and own data stay out of it."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy
import pytest

from engine import load_dataset, run
from engine.data.dataset import Dataset
from engine.studies.bundle import bundle

ROOT = Path(__file__).resolve().parents[2]


def files_of(archive: bytes) -> dict[str, str]:
    with zipfile.ZipFile(io.BytesIO(archive)) as found:
        return {name: found.read(name).decode() for name in found.namelist()}


def executed(script: str, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    path = folder / "script.py"
    path.write_text(script, encoding="utf-8")
    return subprocess.run(
        [sys.executable, str(path), *arguments],
        cwd=folder,
        env={"PYTHONPATH": str(ROOT), "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_script_gives_the_same_run(tmp_path: Path) -> None:
    data = load_dataset("cancer", n=3000, seed=4)
    result = run("priv_pc", data, seed=11, epsilon=4.0)
    files = files_of(bundle(data, result, sample=4))
    done = executed(files["reproduce.py"], tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "The same edges and numbers as in the file."
    assert len(done.stdout.splitlines()) == len(result.skeleton) + 1

    other = files["reproduce.py"].replace("seed=11", "seed=12")
    with pytest.raises(SystemExit, match="differs"):
        exec(compile(other, "reproduce.py", "exec"), {"__name__": "__main__"})


@pytest.mark.parametrize(
    ("key", "values"),
    [
        ("pc", {}),
        ("priv_pc", {"epsilon": 4.0, "guarantee": "published"}),
        ("marginal_pc", {"epsilon": 1.0}),
        ("curate_notears", {"epsilon": 1.0, "guarantee": "strict"}),
        ("curate_notears", {"epsilon": 1.0, "guarantee": "published"}),
    ],
)
def test_every_kind_of_run_is_repeated(
    key: str, values: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    data = load_dataset("cancer", n=2000, seed=4)
    result = run(key, data, seed=11, **values)
    files = files_of(bundle(data, result, sample=4))
    # In this process: another would spend its seconds on imports.
    exec(compile(files["reproduce.py"], "reproduce.py", "exec"), {"__name__": "__main__"})
    assert capsys.readouterr().out.endswith("The same edges and numbers as in the file.\n")
    assert f"numpy=={numpy.__version__}\n" in files["requirements.txt"]


def test_what_is_in_it_belongs_to_the_run() -> None:
    data = load_dataset("asia", n=2000)
    result = run("priv_pc", data, epsilon=2.0)
    archive = bundle(data, result, sample=0, extra={"a.svg": "<svg/>"})
    files = files_of(archive)
    rows = list(csv.DictReader(io.StringIO(files["edges.csv"])))
    assert {frozenset((r["from"], r["to"])) for r in rows} == result.skeleton
    ledger = json.loads(files["ledger.json"])
    assert len(ledger["charges"]) == len(result.ledger)
    assert ledger["spent"] == {"epsilon": 2.0, "delta": 1e-6}
    assert json.loads(files["metrics.json"])["skeleton_f1"] == result.metrics.skeleton_f1
    assert json.loads(files["settings.json"])["seed"] == 0
    assert {"graph.dot", "graph.graphml", "graph.dagitty.txt", "graph.tetrad.txt"} <= set(files)
    assert files["a.svg"] == "<svg/>"
    assert archive == bundle(data, result, sample=0, extra={"a.svg": "<svg/>"})


def test_own_data_leave_no_seed_score_time_or_fingerprint(tmp_path: Path) -> None:
    sample = load_dataset("asia", n=500)
    data = Dataset.from_codes(
        sample.codes, sample.names, sample.levels, name="secret.csv", truth=sample.truth
    )
    seed = 81925417
    result = run("priv_pc", data, seed=seed, epsilon=2.0)
    files = files_of(bundle(data, result))
    whole = "\n".join(files.values())
    for hidden in (str(seed), data.fingerprint, data.name, f"{result.seconds}", "skeleton_f1"):
        assert hidden not in whole
    assert "metrics.json" not in files
    assert not any(name.startswith("reproduce") for name in files)

    table = tmp_path / "mine.csv"
    sample.to_frame().to_csv(table, index=False)
    done = executed(files["rerun.py"], tmp_path, str(table))
    assert done.returncode == 0, done.stderr
