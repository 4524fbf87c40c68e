"""The commands of the documents work as written, in order, from an empty folder.

Run are the lines of blocks in ``sh`` and of blocks without a language, but not ``make``, which
installs and serves.
A block in ``console`` starts a server or a container, runs for minutes, or has a name to fill in.
"""

import contextlib
import re
import shlex
import subprocess
from functools import partial
from pathlib import Path

import pytest

from engine.__main__ import main
from engine.release.checking import attack_release

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("start", "teach", "guide", "reference")
PAGES = [
    ROOT / "README.md",
    *sorted(page for name in FOLDERS for page in (ROOT / "docs" / name).glob("*.md")),
]
ENGINE = "engine "
# Fewer rows, runs and draws than a reader asks for.
CHEAP = {
    "--seeds 20": "--seeds 2 --n 500",
    "asia,cancer": "cancer",
    "--dataset asia ": "--dataset cancer ",
    "--epsilon 1 --seed 0": "--epsilon 1 --seed 0 --n 500",
    "--epsilon 0.3,1,3": "--epsilon 1 --draws 2",
}


def lines_of(page):
    """The lines of a page that are run."""
    blocks = re.findall(r"(?ms)^```(\w*)\n(.*?)^```$", page.read_text(encoding="utf-8"))
    lines = [line for name, body in blocks if name in ("", "sh") for line in body.splitlines()]
    return [line for line in lines if line and not line.startswith(("#", "make ", "source "))]


COMMANDS = {page.relative_to(ROOT): lines_of(page) for page in PAGES}


def engine(line):
    """One command of the engine, in this process; its output may go to a file."""
    for long, short in CHEAP.items():
        line = line.replace(long, short)
    words = shlex.split(line.partition("engine ")[2], comments=True)
    target = words.pop() if ">" in words else "output.txt"
    with Path(target).open("w", encoding="utf-8") as file, contextlib.redirect_stdout(file):
        status = main([word for word in words if word != ">"])
    assert not status, line


@pytest.mark.parametrize("page", [p for p, lines in COMMANDS.items() if lines], ids=str)
def test_commands_of_a_page(page, tmp_path, monkeypatch):
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    monkeypatch.setenv("DP_CAUSAL_EXPLORER_BUDGETS", str(tmp_path / "kept" / "budgets.db"))
    monkeypatch.setattr("engine.cli.audit.attack_release", partial(attack_release, proposals=1))
    Path("sample_data").symlink_to(ROOT / "sample_data")
    for line in COMMANDS[page]:
        if line.startswith(ENGINE):
            engine(line)
        elif line.startswith("cd "):
            monkeypatch.chdir(line.removeprefix("cd "))
        else:
            subprocess.run(["bash", "-ec", line], check=True, timeout=20)


def test_the_guides_have_commands():
    assert sum(map(len, COMMANDS.values())) > 25
