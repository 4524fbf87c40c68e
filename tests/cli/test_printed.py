"""Commands print what they printed; `KEEP=1 make test ARGS=tests/cli/test_printed.py` keeps it."""

import math
import re
from pathlib import Path

import pytest

from engine.__main__ import main
from engine.cli import interrupts
from engine.release.budget import VARIABLE
from tests.boundary.alike import DECLARED, ODD, table
from tests.keeping import agrees

ASIA = "--dataset asia --n 5000 --seed 1"
SWEEP = "sweep --dataset cancer --n 1000 --epsilon 0.5,2 --seeds 3"
COMMANDS = {
    "run": [
        f"run {ASIA} --algorithm priv_pc --epsilon 1",
        f"run {ASIA} --algorithm curate_pc --guarantee published",
        f"run {ASIA} --algorithm marginal_pc --epsilon 0.5 --json",
        "run --dataset cancer --n 2000 --algorithm marginal_pc --epsilon 0.01 --seed 0",
        "run --dataset sachs --n 3000 --algorithm pc",
        "run --dataset sachs --n 3000 --algorithm pc --stable true",
        "run --csv mine.csv --schema s.json --algorithm marginal_pc --epsilon 1 --seed 3",
        "run --dataset nothing --algorithm pc",
        "algorithms",
    ],
    "studies": [
        f"{SWEEP} --algorithm priv_pc,marginal_pc --out s.db --workers 1",
        f"{SWEEP} --algorithm svt_pc --guarantee strict,published --out t.db --workers 1",
        f"{SWEEP} --algorithm priv_pc --target 0.5 --json --workers 1",
        "merge s.db t.db --out both.db",
        "plan --schema s.json --rows 2000 --epsilon 0.5,1 --draws 3 --seed 1 "
        "--algorithm priv_pc,em_pc,marginal_pc",
        "tune --dataset cancer --n 1000 --data-seed 1 --algorithm priv_pc --epsilon 1 --runs 20 "
        "--held-out earthquake --workers 1",
    ],
    "tables": [
        "schema draft mine.csv",
        "schema check s.json --csv mine.csv",
        "pairs --dataset pair:sine:gaussian --epsilon 1 --seed 1",
        "budget new ward --epsilon 3",
        "budget show ward",
        "budget show",
        "audit --algorithm priv_pc --runs 20",
        "reproduce theorems --out theorems",
    ],
}


@pytest.mark.parametrize("name", COMMANDS)
def test_commands(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(VARIABLE, str(tmp_path / "b.db"))
    monkeypatch.setattr(interrupts, "EVERY", math.inf)  # no progress, which depends on the clock
    Path("mine.csv").write_bytes(table(7, ODD))
    Path("s.json").write_text(DECLARED, encoding="utf-8")
    said = []
    for line in COMMANDS[name]:
        code = main(line.split())
        out, err = capsys.readouterr()
        said.append(f"$ {line}\n{out}{err}[{code}]\n")
    text = "\n".join(said)
    if name == "studies":  # the column of seconds
        text = re.sub(r" +seconds +", " seconds ", text)
        text = re.sub(r"^( *cancer .* \d+ +\d+) +[\d.e-]+ +", r"\1 … ", text, flags=re.MULTILINE)
    agrees(f"commands {name}", text)
