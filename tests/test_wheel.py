"""An installed wheel works from any folder: the networks are in it, and so is every package."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the built wheel in it, and nothing of this checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    # From a copy of what a wheel is made of: a build leaves folders behind where it runs.
    source = folder / "source"
    for part in ("engine", "sample_data", "static"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / part, source / part, ignore=ignored)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        (source / name).write_bytes((ROOT / name).read_bytes())
    target = folder / "site"  # pip builds the wheel and unpacks it there
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-compile"]
    command += ["--no-build-isolation", "--target", str(target), str(source)]
    subprocess.run(command, check=True, cwd=folder)
    _take_kernels_along(target)
    return target


def _take_kernels_along(target: Path) -> None:
    """What numba has compiled for the checkout's files serves the same files, of the same age."""
    for path in (ROOT / "engine").rglob("*"):
        place = target / path.relative_to(ROOT)
        if path.suffix == ".py" and place.exists():
            os.utime(place, ns=(path.stat().st_atime_ns, path.stat().st_mtime_ns))
        if path.suffix in (".nbi", ".nbc") and place.parent.parent.is_dir():
            place.parent.mkdir(exist_ok=True)
            place.write_bytes(path.read_bytes())


def python(installed: Path, folder: Path, *words: str) -> str:
    """What Python prints in another folder, with the wheel's files alone on its path."""
    kept = {"DP_CAUSAL_EXPLORER_BUDGETS": str(folder / "budgets.db")}
    environment = {**os.environ, **kept, "PYTHONPATH": str(installed)}
    # The checkout must not be found by way of an installation of its own.
    done = subprocess.run(
        [sys.executable, "-P", *words],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def test_every_package_is_in_the_wheel(installed: Path) -> None:
    ours = {p.parent.relative_to(ROOT) for p in (ROOT / "engine").rglob("__init__.py")}
    theirs = {p.parent.relative_to(installed) for p in installed.rglob("__init__.py")}
    assert ours <= theirs
    for place, name, kind in (
        ("sample_data", "sample_data", "json"),
        ("static/scene", "browser", "*s"),
    ):
        here, there = ROOT / place, installed / "engine" / name
        names = {path.relative_to(here) for path in here.rglob(f"*.{kind}")}
        assert {path.relative_to(there) for path in there.rglob(f"*.{kind}")} == names != set()


def test_the_story_is_written_anywhere(installed: Path, tmp_path: Path) -> None:
    python(installed, tmp_path, "-m", "engine", "story", "--out", "story")
    assert (tmp_path / "story" / "story.js").stat().st_size > 50_000


def test_the_command_line_runs_anywhere(installed: Path, tmp_path: Path) -> None:
    asked = ["run", "--dataset", "asia", "--n", "2000", "--algorithm", "priv_pc", "--json"]
    result = json.loads(python(installed, tmp_path, "-m", "engine", *asked))
    assert result["dataset"] == "asia"
    assert len(result["names"]) == 8


def test_the_notebook_of_one_s_own_table_runs_anywhere(installed: Path, tmp_path: Path) -> None:
    notebook = ROOT / "docs" / "notebooks" / "own_table.py"
    (tmp_path / "own_table.py").write_bytes(notebook.read_bytes())
    where = "import runpy, engine; runpy.run_path('own_table.py'); print(engine.__file__)"
    shown = python(installed, tmp_path, "-c", where)
    assert "doubt" in shown
    assert shown.strip().splitlines()[-1].startswith(str(installed))


def test_the_readme_s_snippet_runs_anywhere(installed: Path, tmp_path: Path) -> None:
    snippets = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.S)
    assert snippets
    where = "import engine; print(engine.__file__)"
    for snippet in snippets:
        shown = python(installed, tmp_path, "-c", f"{snippet}\n{where}")
        assert shown.strip().splitlines()[-1].startswith(str(installed))
