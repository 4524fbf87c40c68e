"""What whole tables are worth where noise is small: ``python -m benchmarks.whole_tables``.

Marginal PC with them and without on random networks, the same sample and seed for both, next to G²
PC with weighed colliders and without privacy. Runs are kept in
benchmarks/results/whole_tables.jsonl, and a cell that is kept is not run again. The last step
writes the table of docs/research/marginal_pc.md; ``--tables`` does that alone.
"""

from __future__ import annotations

import argparse
import math
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np

from benchmarks.f1 import COLUMNS, DOCS, Runs, said
from benchmarks.kept import keep, lines
from benchmarks.random_networks import random_dataset
from benchmarks.utility import DELTA
from benchmarks.written import put
from engine import run
from engine.algorithms import marginal_pc
from engine.data.dataset import Dataset
from engine.marginals.sensitivity import hidden
from engine.privacy.accounting import Guarantee

KEPT = Path(__file__).parent / "results" / "whole_tables.jsonl"
MARK = "benchmarks.whole_tables"
SIZES, EPSILONS, ROWS = (8, 12, 16, 20, 30), (10.0, 3.0, 1.0, 0.3), 100_000
DENSITY, FIRST, NETWORKS = 1.2, 5_000, 24
KINDS = ("pc", "without", "with")
QUIET = {"without": 0.0, "with": math.inf}  # in the place of the limit


class Cell(NamedTuple):
    """How many columns, and which epsilon."""

    d: int
    epsilon: float


def scored(kind: str, data: Dataset, cell: Cell, seed: int) -> list[float]:
    """Skeleton F1, directed F1, SHD."""
    if kind == "pc":
        found = run("pc", data, trace=False, **COLUMNS["pc_weighed"][1])
    else:
        budget: dict[str, Any] = {"epsilon": cell.epsilon, "delta": DELTA, "seed": seed}
        with mock.patch.object(marginal_pc, "QUIET", QUIET[kind]):
            found = run("marginal_pc", data, trace=False, **budget)
    assert found.metrics is not None
    m = found.metrics
    return [round(m.skeleton_f1, 4), round(m.directed_f1, 4), m.shd]


def measure(cell: Cell) -> None:
    """Run a cell and keep it: runs of each kind, and how noise compares with sampling."""
    runs: dict[str, list[list[float]]] = {kind: [] for kind in KINDS}
    noise = []
    for seed in range(NETWORKS):
        data = random_dataset(cell.d, round(DENSITY * cell.d), FIRST + seed, ROWS)
        total = Guarantee(cell.epsilon, DELTA)
        noise.append(hidden(data.cardinalities, data.n, total) * math.sqrt(data.n))
        for kind, found in runs.items():
            found.append(scored(kind, data, cell, seed))
    keep(KEPT, {"cell": cell, "noise": round(float(np.mean(noise)), 4), "runs": runs})
    print(*cell, said(np.array(runs["with"]) - np.array(runs["without"]), "+"), flush=True)


def kept() -> dict[Cell, tuple[float, dict[str, Runs]]]:
    """The cells that were run: noise compared with sampling, and the runs of each kind."""
    return {
        Cell(*line["cell"]): (line["noise"], {k: np.array(v) for k, v in line["runs"].items()})
        for line in lines(KEPT)
    }


def table() -> str:
    """A line a cell, the least noise first."""
    heads = ("noise / sampling", "columns", "ε", "PC", "without", "change", "networks")
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    for cell, (noise, runs) in sorted(kept().items(), key=lambda item: item[1][0]):
        change = said(runs["with"] - runs["without"], "+")
        texts = (f"{noise:.2f}", str(cell.d), f"{cell.epsilon:g}", said(runs["pc"]))
        more = (said(runs["without"]), change, str(len(runs["pc"])))
        lines.append("| " + " | ".join((*texts, *more)) + " |")
    return "\n".join(lines)


def main() -> None:
    """Run what is not kept, then write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", action="store_true")
    options = parser.parse_args()
    for cell in () if options.tables else map(Cell._make, product(SIZES, EPSILONS)):
        if cell not in kept():
            measure(cell)
    put(DOCS / "research" / "marginal_pc.md", MARK, table())


if __name__ == "__main__":
    main()
