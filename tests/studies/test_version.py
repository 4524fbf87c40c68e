"""What makes a stored cell another cell: code that a run can reach, and no word about it."""

from __future__ import annotations

import shutil
import tomllib
from pathlib import Path

import pytest

from engine.studies.cells import ABOVE_A_RUN, code_digest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The search and what stands around it, as files of its own."""
    package = tmp_path / "engine"
    ignored = shutil.ignore_patterns("__pycache__", "data", "score", "pairs", "marginals")
    shutil.copytree(ROOT / "engine", package, ignore=ignored)
    return package


def edit(path: Path, old: str, new: str) -> None:
    source = path.read_text(encoding="utf-8")
    assert old in source
    path.write_text(source.replace(old, new, 1), encoding="utf-8")


def test_a_study_survives_comments_docstrings_and_line_breaks(copy: Path) -> None:
    before = code_digest(copy)
    loop = copy / "search" / "skeleton.py"
    edit(loop, '"""The one PC loop', '"""Another word on the one PC loop')
    edit(loop, '"""The size of the conditioning set."""', '"""How many are given."""')
    edit(loop, "        self.order += 1\n", "        # one more\n\n        self.order += (\n 1)\n")
    assert code_digest(copy) == before


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("search/skeleton.py", "self.order += 1", "self.order += 2"),
        ("statistics/kendall.py", "2.0 * (2 * n + 5)", "2.0 * (2 * n + 6)"),
        ("algorithms/em_pc.py", "return u\n", "return -u\n"),
        ("runner.py", "import ", "import this\nimport "),
    ],
)
def test_code_that_a_run_reaches_makes_another_version(
    copy: Path, file: str, old: str, new: str
) -> None:
    before = code_digest(copy)
    edit(copy / file, old, new)
    assert code_digest(copy) != before


def test_a_file_more_or_one_of_another_name_makes_another_version(copy: Path) -> None:
    digests = {code_digest(copy)}
    (copy / "statistics" / "mine.py").write_text("X = 1\n")
    digests.add(code_digest(copy))
    (copy / "statistics" / "mine.py").rename(copy / "statistics" / "yours.py")
    digests.add(code_digest(copy))
    assert len(digests) == 3


def test_what_no_run_reaches_makes_no_other_version(copy: Path) -> None:
    before = code_digest(copy)
    for name in ("teaching/lessons.py", "cli/run.py", "papers/published.py"):
        (copy / name).write_text("X = 1\n")
    assert code_digest(copy) == before


def test_left_out_is_what_the_layers_put_above_the_runner() -> None:
    """The contract keeps the runner from importing these, and so a run from reaching them."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    layers = next(c["layers"] for c in contracts if c["id"] == "layers")
    above = layers[: layers.index("runner")]
    assert {name.strip() for layer in above for name in layer.replace(":", "|").split("|")} == set(
        ABOVE_A_RUN
    )
