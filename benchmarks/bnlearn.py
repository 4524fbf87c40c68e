"""R's bnlearn compared with ours, where ``Rscript`` and the package are installed.

Debian's index of this project's machine has no r-cran-bnlearn, so this was only ever run with a
stand-in for Rscript (``tests/test_bench.py``), never with the real one.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from engine.data.dataset import Dataset
from engine.graphs.cpdag import Adjacency

LIMIT = 600.0  # seconds that R gets for one network

# "mi" is G2 with the same degrees of freedom as ours; only the search is timed. The answer: a line
# "seconds S", then a line "i j" for each edge, columns counted from 1.
_SCRIPT = """
arguments <- commandArgs(trailingOnly = TRUE)
suppressPackageStartupMessages(library(bnlearn))
if (length(arguments) == 0) quit(status = 0)
rows <- read.csv(arguments[1], colClasses = "factor")
seconds <- sum(system.time(
  found <- pc.stable(rows, test = "mi", alpha = as.numeric(arguments[2]), undirected = TRUE)
)[c("user.self", "sys.self")])
cat("seconds", format(seconds, digits = 6), "\\n")
pairs <- arcs(found)
for (k in seq_len(nrow(pairs)))
  cat(match(pairs[k, 1], names(rows)), match(pairs[k, 2], names(rows)), "\\n")
"""


def installed() -> bool:
    """Whether R and its package are there."""
    if shutil.which("Rscript") is None:
        return False
    return _answer([]) is not None


def bnlearn_run(data: Dataset, alpha: float) -> tuple[float, Adjacency] | None:
    """pc.stable's CPU seconds and skeleton (d, d) on the same codes; None where R fails."""
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "rows.csv"
        names = [f"V{j}" for j in range(data.d)]
        pd.DataFrame(data.row_codes(), columns=names).to_csv(table, index=False)
        answer = _answer([str(table), str(alpha)])
    return None if answer is None else parsed(answer, data.d)


def _answer(arguments: list[str]) -> str | None:
    with tempfile.NamedTemporaryFile("w", suffix=".R") as script:
        script.write(_SCRIPT)
        script.flush()
        command = ["Rscript", "--vanilla", script.name, *arguments]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT)
        except (OSError, subprocess.TimeoutExpired):
            return None
    return done.stdout if done.returncode == 0 else None


def parsed(answer: str, d: int) -> tuple[float, Adjacency]:
    """Read (seconds, skeleton) from the script's output; ValueError for anything else."""
    head, *lines = answer.split("\n")
    word, seconds = head.split()
    if word != "seconds":
        raise ValueError(f"bnlearn's answer begins with {head!r}.")
    skeleton = np.zeros((d, d), bool)
    for line in filter(str.strip, lines):
        i, j = (int(part) - 1 for part in line.split())
        if not (0 <= i < d and 0 <= j < d):
            raise ValueError(f"bnlearn names a column that is not there: {line!r}.")
        skeleton[i, j] = skeleton[j, i] = True
    return float(seconds), skeleton
