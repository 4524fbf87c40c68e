"""What runs outside of this checkout does what `make` does: hooks, the matrix of Pythons."""

import re
import tomllib
from pathlib import Path

import yaml

from engine.__main__ import main
from engine.version import __version__

ROOT = Path(__file__).resolve().parents[2]


def test_the_hooks_are_the_linters_of_make_lint():
    makefile = (ROOT / "Makefile").read_text("utf-8")
    recipe = re.search(r"^lint: setup\n((?:\t.*\n)+)", makefile, re.M)[1]
    lines = recipe.replace("$(PY)", ".venv/bin/python").replace("$(VENV)", ".venv").split("\n\t")
    [repo] = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))["repos"]
    assert repo["repo"] == "local"
    assert [hook["entry"] for hook in repo["hooks"]] == [line.strip() for line in lines]


def test_the_matrix_begins_with_the_oldest_python_and_calls_ci():
    job = yaml.safe_load((ROOT / ".github/workflows/test.yml").read_text("utf-8"))["jobs"]["test"]
    pythons = job["strategy"]["matrix"]["python"]
    needed = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert needed["requires-python"] == f">={pythons[0]}"
    assert [int(one.removeprefix("3.")) for one in pythons] == list(range(11, 11 + len(pythons)))
    assert job["steps"][-1]["run"] == ".ci/run"


def test_the_files_that_contributing_names_are_there():
    """A recipe's own new file is called mine."""
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    named = re.findall(r"`([\w./-]+/[\w.-]+\.(?:py|json|jsonl|md|toml|yml))`", text)
    assert len(named) > 15
    assert [one for one in named if "mine" not in one and not (ROOT / one).exists()] == []


def test_the_command_prints_its_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"dp-causal-explorer {__version__}\n"
