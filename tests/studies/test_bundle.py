"""The ZIP of a run: its script gives the same run again, and own data stay out of it."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy
import pytest

from engine import RunResult, load_dataset, run
from engine.data.dataset import Dataset
from engine.studies.bundle import bundle

ROOT = Path(__file__).resolve().parents[2]


def files_of(archive: bytes) -> dict[str, str]:
    with zipfile.ZipFile(io.BytesIO(archive)) as found:
        return {name: found.read(name).decode() for name in found.namelist()}


# Runs the scripts that it is told of as programs, one after the other: Python starts once.
DRIVER = """
import contextlib, io, json, runpy, sys
done = []
for script, *words in json.loads(sys.argv[1]):
    sys.argv, status, out = [script, *words], 0, io.StringIO()
    with contextlib.redirect_stdout(out):
        try:
            runpy.run_path(script, run_name="__main__")
        except SystemExit as end:
            status = end.code
    done.append([status, out.getvalue()])
print(json.dumps(done))
"""


def executed(folder: Path, scripts: dict[str, tuple[str, ...]]) -> dict[str, tuple[Any, str]]:
    """What each script, given with its words, ended with (0, or what it told ``sys.exit``) and
    what it printed."""
    for name, (script, *_) in scripts.items():
        (folder / f"{name}.py").write_text(script, encoding="utf-8")
    asked = json.dumps([[f"{name}.py", *words] for name, (_, *words) in scripts.items()])
    done = subprocess.run(
        [sys.executable, "-c", DRIVER, asked],
        cwd=folder,
        env={"PYTHONPATH": str(ROOT), "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return {
        name: (status, out)
        for name, (status, out) in zip(scripts, json.loads(done.stdout), strict=True)
    }


SEED = 81925417


@dataclass(frozen=True)
class Bundles:
    """Runs of a public network and of own data, and what the scripts of their ZIPs did."""

    public: dict[str, RunResult]
    own: RunResult
    data: Dataset
    files: dict[str, str]  # of the own data's ZIP
    done: dict[str, tuple[Any, str]]


@pytest.fixture(scope="module")
def bundles(tmp_path_factory: pytest.TempPathFactory) -> Bundles:
    folder = tmp_path_factory.mktemp("bundles")
    cancer = load_dataset("cancer", n=3000, seed=4)
    public: dict[str, RunResult] = {}
    scripts: dict[str, tuple[str, ...]] = {}
    for guarantee in ("strict", "published"):
        public[guarantee] = run("priv_pc", cancer, seed=11, epsilon=4.0, guarantee=guarantee)
        script = files_of(bundle(cancer, public[guarantee], sample=4))["reproduce.py"]
        scripts[guarantee] = (script,)
        scripts[f"other-{guarantee}"] = (script.replace("seed=11", "seed=12"),)

    sample = load_dataset("asia", n=500)
    data = Dataset.from_codes(
        sample.codes, sample.names, sample.levels, name="secret.csv", truth=sample.truth
    )
    own = run("priv_pc", data, seed=SEED, epsilon=2.0)
    files = files_of(bundle(data, own))
    table = folder / "mine.csv"
    sample.to_frame().to_csv(table, index=False)
    scripts["rerun"] = files["rerun.py"], str(table)
    return Bundles(public, own, data, files, executed(folder, scripts))


def test_the_script_gives_the_same_run(bundles: Bundles) -> None:
    for guarantee, result in bundles.public.items():
        status, out = bundles.done[guarantee]
        assert status == 0
        assert out.splitlines()[-1] == "The same edges and numbers as in the file."
        assert len(out.splitlines()) == len(result.skeleton) + 1
        assert "differs" in str(bundles.done[f"other-{guarantee}"][0])


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


def test_own_data_leave_no_seed_score_time_or_fingerprint(bundles: Bundles) -> None:
    files, data = bundles.files, bundles.data
    whole = "\n".join(files.values())
    hidden = (str(SEED), data.fingerprint, data.name, f"{bundles.own.seconds}", "skeleton_f1")
    assert not [word for word in hidden if word in whole]
    assert "metrics.json" not in files
    assert not any(name.startswith("reproduce") for name in files)
    assert bundles.done["rerun"][0] == 0
