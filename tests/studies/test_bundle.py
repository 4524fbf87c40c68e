"""The ZIP of a run: its script gives the same run again, and own data stay out of it."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
import zipfile
from pathlib import Path

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


@pytest.mark.parametrize("guarantee", ["strict", "published"])
def test_the_script_gives_the_same_run(tmp_path: Path, guarantee: str) -> None:
    data = load_dataset("cancer", n=3000, seed=4)
    result = run("priv_pc", data, seed=11, epsilon=4.0, guarantee=guarantee)
    files = files_of(bundle(data, result, sample=4))
    done = executed(files["reproduce.py"], tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "The same edges and numbers as in the file."
    assert len(done.stdout.splitlines()) == len(result.skeleton) + 1

    other = executed(files["reproduce.py"].replace("seed=11", "seed=12"), tmp_path)
    assert other.returncode == 1
    assert "differs" in other.stderr


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
