"""Nothing of a person's own data leaves that was not paid for: every output, one leak a test."""

import json
import math
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from engine import ALGORITHMS, Dataset, load_dataset, read_table, run, sweep
from engine.__main__ import main
from engine.cli.run import summary
from engine.data.pairs import read_pair
from engine.data.schema import Column, Schema
from engine.serialise import result_dict
from engine.studies.study import estimate

ROOT = Path(__file__).resolve().parents[2]
YES_NO = ("no", "yes")
NAMES = ("a", "b", "c", "d")
SCHEMA = Schema(
    tuple(Column(name=name, type="ordered", levels=YES_NO, other="no") for name in NAMES)
)
PRIVATE = [key for key, a in ALGORITHMS.items() if a.private and a.columns is None]


def table(n=600):
    """Four binary columns in a chain."""
    rng = np.random.default_rng(5)
    rows = [rng.integers(0, 2, n)]
    for _ in NAMES[1:]:
        rows.append(np.where(rng.random(n) < 0.8, rows[-1], 1 - rows[-1]))
    lines = [",".join(YES_NO[v] for v in row) for row in np.stack(rows, axis=1)]
    return "\n".join([",".join(NAMES), *lines, ""]).encode()


@pytest.fixture(scope="module")
def own():
    return read_table(table(), schema=SCHEMA)


@pytest.fixture
def files(tmp_path):
    """A CSV file and its schema."""
    csv, schema = tmp_path / "mine.csv", tmp_path / "schema.json"
    csv.write_bytes(table())
    schema.write_text(json.dumps(SCHEMA.to_json()))
    return str(csv), str(schema)


def printed(capsys, *argv):
    assert main(argv) == 0
    return capsys.readouterr().out


def test_an_estimate_does_not_touch_the_rows(own, monkeypatch):
    """A probe's time is an output, and its noise would have to be paid for."""
    module = import_module("engine.studies.study")
    seen, real = [], module.run_trial
    monkeypatch.setattr(
        module, "run_trial", lambda data, *rest: seen.append(data) or real(data, *rest)
    )
    assert estimate(own, "svt_pc", seeds=2).total == 2
    assert seen
    assert all(data is not own and data.public for data in seen)
    assert all(data.cardinalities == own.cardinalities and data.n == own.n for data in seen)


# 2. Shared noise ---------------------------------------------------------------------------


def released(data, key, **kw):
    return [s.value for s in run(key, data, **kw).steps if s.value is not None]


def noise_of(monkeypatch, data, epsilons):
    """The first draw of each cell of a study, in units of its scale."""
    from engine.privacy import mechanisms

    drawn, real = [], mechanisms.laplace

    def spy(session, value, **kw):
        noisy = real(session, value, **kw)
        drawn.append((noisy - value) / kw["scale"])
        return noisy

    monkeypatch.setattr("engine.search.noisy_score.laplace", spy)
    list(sweep(data, "curate_pc", {"epsilon": epsilons, "max_order": 0}, seeds=1))
    return drawn


@pytest.mark.fresh
def test_cells_on_own_data_share_no_noise(own, monkeypatch):
    drawn = np.round(noise_of(monkeypatch, own, [0.5, 1.0]), 9)
    assert len(drawn) >= 12
    assert len(set(drawn)) == len(drawn)


def test_cells_on_public_data_share_theirs(monkeypatch):
    drawn = np.round(noise_of(monkeypatch, load_dataset("cancer", n=2000), [0.5, 1.0]), 9)
    assert len(set(drawn)) == len(drawn) / 2


# 3. Known seeds ----------------------------------------------------------------------------


@pytest.mark.fresh
@pytest.mark.parametrize("key", ["gauss_pc", "marginal_pc", "gram_notears"])
def test_own_data_get_secret_noise_without_being_asked(own, key):
    one, other = (run(key, own, epsilon=1.0) for _ in range(2))
    assert one.seed is None
    assert [repr(s) for s in one.steps] != [repr(s) for s in other.steps]
    assert one.proven.epsilon == 1.0
    assert not one.seed_known


def test_public_data_keep_seed_0():
    data = load_dataset("cancer", n=500)
    assert released(data, "gauss_pc") == released(data, "gauss_pc", seed=0)


@pytest.mark.parametrize("key", PRIVATE)
def test_a_given_seed_is_known(own, key):
    result = run(key, own, seed=7)
    assert result.seed_known
    assert math.isinf(result.proven.epsilon)
    assert result_dict(result)["seed_known"] is True
    assert result_dict(result)["seed"] is None
    assert "the seed was given" in summary(result)
    assert not run(key, load_dataset("cancer", n=200), seed=7, trace=False).seed_known


@pytest.mark.fresh
def test_the_command_line_uses_no_known_seed(capsys, files, own):
    csv, schema = files
    argv = ("run", "--csv", csv, "--schema", schema, "--algorithm", "gauss_pc", "--json")
    one, other = (json.loads(printed(capsys, *argv)) for _ in range(2))
    assert one["steps"] != other["steps"]
    assert one["seed"] is one["seconds"] is None
    study = printed(capsys, "sweep", *argv[1:-1], "--seeds", "1")
    study += printed(capsys, "sweep", *argv[1:], "--seeds", "1")
    assert '"seconds": null' in study
    assert own.fingerprint[:12] not in study + json.dumps(one)
    seeded = json.loads(printed(capsys, *argv, "--seed", "3"))
    assert seeded["seed_known"]
    assert seeded["seed"] is None
    assert seeded["proven"]["epsilon"] == "inf"


# 4. The schema -----------------------------------------------------------------------------


@pytest.mark.parametrize("key", PRIVATE)
def test_without_a_declared_schema_nothing_is_defended(key):
    found = run(key, read_table(table()))
    assert math.isinf(found.proven.epsilon)
    assert any("schema" in reason for reason in found.ledger.no_guarantee_reasons)
    assert "schema" in summary(found)


def test_bounds_that_were_read_are_no_schema():
    rng = np.random.default_rng(0)
    rows = "\n".join(f"{a:.6f},{a * a + b:.6f}" for a, b in rng.normal(size=(400, 2)))
    raw = f"x,y\n{rows}\n".encode()
    found, stated = read_pair(raw), read_pair(raw, ((-9.0, 9.0), (-99.0, 99.0)))
    for release in ("scores", "vote"):
        assert run("anm", stated, release=release).proven.epsilon == 1.0
        assert math.isinf(run("anm", found, release=release).proven.epsilon)
        assert math.isinf(run("anm", stated, release=release, seed=1).proven.epsilon)


def test_codes_without_levels_are_no_schema(own):
    data = Dataset.from_codes(own.codes)
    assert not data.declared
    assert any("levels" in note for note in data.notes)
    assert math.isinf(run("svt_pc", data).proven.epsilon)
    assert run("svt_pc", own).proven.epsilon == 1.0


# 5. Files of workers -----------------------------------------------------------------------


def test_worker_processes_leave_no_rows_in_a_folder(tmp_path):
    """The study ends by kill -9 in its middle; no file may hold what the workers were given."""
    code = (
        "import os, signal\nfrom engine import read_table, sweep\n"
        "from tests.privacy.test_outputs import SCHEMA, table\n"
        "data = read_table(table(50_000), schema=SCHEMA)\n"
        "for result in sweep(data, 'svt_pc', seeds=4, executor='processes', workers=1):\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    environment = os.environ | {"TMPDIR": str(tmp_path), "PYTHONPATH": str(ROOT)}
    asked = [sys.executable, "-c", code]
    quiet = dict.fromkeys(("stdout", "stderr"), subprocess.DEVNULL)
    done = subprocess.run(asked, env=environment, cwd=tmp_path, check=False, **quiet)
    assert done.returncode == -9
    sizes = {str(p): p.stat().st_size for p in tmp_path.rglob("*") if p.is_file()}
    assert max(sizes.values(), default=0) < 50_000, sizes
