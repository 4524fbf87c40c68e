"""An installed wheel works from any folder: engine, networks, dashboard and both commands."""

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from benchmarks.visitor import Visitor
from scripts.examples import EXAMPLES
from tests.docs.test_examples import fewer
from tests.serving import knock, served

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A folder with the built wheel in it, and nothing of this checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    # From a copy of what a wheel is made of: a build leaves folders behind where it runs.
    source = folder / "source"
    for part in ("engine", "pages", "sample_data", "scripts", "static", ".streamlit"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / part, source / part, ignore=ignored)
    for name in ("app.py", "pyproject.toml", "README.md", "LICENSE"):
        (source / name).write_bytes((ROOT / name).read_bytes())
    build = "from setuptools import build_meta; print(build_meta.build_wheel('.'))"
    said = subprocess.check_output([sys.executable, "-c", build], cwd=source, text=True)
    target = folder / "site"
    with zipfile.ZipFile(source / said.split()[-1]) as wheel:
        wheel.extractall(target)
    _take_kernels_along(target)
    return target


def _take_kernels_along(target):
    """What numba has compiled for the checkout's files serves the same files, of the same age."""
    for path in (ROOT / "engine").rglob("*"):
        place = target / path.relative_to(ROOT)
        if path.suffix == ".py" and place.exists():
            os.utime(place, ns=(path.stat().st_atime_ns, path.stat().st_mtime_ns))
        if path.suffix in (".nbi", ".nbc") and place.parent.parent.is_dir():
            place.parent.mkdir(exist_ok=True)
            place.write_bytes(path.read_bytes())


def test_every_package_is_in_the_wheel(installed):
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
    assert (installed / "engine" / "py.typed").is_file()  # type checkers read the annotations
    pages = [path for path in (ROOT / "pages").rglob("*.*") if "__pycache__" not in path.parts]
    for path in pages:
        assert (installed / "dp_causal_explorer" / path.relative_to(ROOT)).is_file(), path


def test_two_names_stand_in_an_environment(installed):
    """Names like ``pages`` or ``scripts`` would hide, or be hidden by, those of other packages."""
    tops = {path.name for path in installed.iterdir() if not path.name.endswith(".dist-info")}
    assert tops == {"engine", "dp_causal_explorer"}
    [listed] = installed.glob("*.dist-info/entry_points.txt")
    commands = dict(re.findall(r"(?m)^(\S+) = (\S+)$", listed.read_text()))
    assert commands.keys() == {"engine", "dp-causal-explorer"}
    for target in commands.values():
        module, _, function = target.partition(":")
        source = installed / f"{module.replace('.', '/')}.py"
        assert f"def {function}(" in source.read_text()


async def _opened(url):
    async with Visitor(url, "run", "data=cancer&n=1000") as visitor:
        await visitor.until(lambda v: any("Cancer" in text for text in v.texts("html")))


def test_the_dashboard_is_served_from_a_wheel(installed, tmp_path):
    paths = {"PYTHONPATH": str(installed), "DP_CAUSAL_EXPLORER_ANSWERS": ""}
    with served(tmp_path, root=installed / "dp_causal_explorer", **paths) as url:
        assert knock(url, "/app/static/vis/vis-network.min.js")[0] == 200  # by its own settings
        asyncio.run(_opened(url))
    assert "Traceback" not in (tmp_path / "log").read_text()


# What people run: a command, a page's browser modules, a notebook, and README's snippets.
RUN = """
import json, runpy, sys
import engine
from engine.__main__ import main
from engine.story.modules import bundle, style

main(["run", "--dataset", "asia", "--n", "2000", "--algorithm", "priv_pc", "--json"])
said = [len(bundle("story")), len(style("story"))]
for file in ("own_table.py", *sys.argv[1:]):
    print(file, flush=True)
    runpy.run_path(file)
print(json.dumps([engine.__file__, *said]))
"""


def test_what_people_run_runs_anywhere(installed, tmp_path):
    """In another folder, with the wheel's files alone on the path of Python."""
    (tmp_path / "own_table.py").write_text(fewer((EXAMPLES / "own_table.py").read_text()))
    snippets = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.S)
    names = [f"snippet{k}.py" for k in range(len(snippets))]
    for name, snippet in zip(names, snippets, strict=True):
        (tmp_path / name).write_text(fewer(snippet))
    kept = {"DP_CAUSAL_EXPLORER_BUDGETS": str(tmp_path / "budgets.db")}
    environment = {**os.environ, **kept, "PYTHONPATH": str(installed)}
    # -P: the checkout must not be found by way of an installation of its own.
    command = [sys.executable, "-P", "-c", RUN, *names]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    printed, notebook_and_snippets = done.stdout.split("own_table.py\n", 1)
    result = json.loads(printed)
    assert (result["dataset"], len(result["names"])) == ("asia", 8)
    assert "doubt" in notebook_and_snippets.partition("snippet")[0]
    assert names
    where, modules, rules = json.loads(done.stdout.splitlines()[-1])
    assert where.startswith(str(installed))
    assert modules > 20_000
    assert rules > 1_000
