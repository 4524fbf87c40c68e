"""What is best by the number of rows: ``python -m benchmarks.rows [--random]``.

Marginal PC, Gram-NOTEARS and two rivals at 1,000 to 100,000 rows. A run of a network reads a sample
of its own; with ``--random`` it is on a random network of its own (benchmarks.random_networks,
.8, 1.2 and 1.6 links a node in turn), by which the rule of ``auto`` was chosen. Runs are kept in
benchmarks/results/rows.jsonl, and a cell that is kept is not run again. The last step writes the
table of docs/explanation/marginal_pc.md; ``--tables`` does that alone.
"""

from __future__ import annotations

import argparse
import json
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks import f1
from benchmarks.random_networks import random_dataset
from engine import load_dataset
from engine.data.dataset import Dataset

KEPT = Path(__file__).parent / "results" / "rows.jsonl"
COLUMNS = ("marginal_pc", "gram_notears", "chow_liu", "mst_half")
ROWS, EPSILONS = (1_000, 3_000, 10_000, 30_000, 100_000), (0.1, 1.0)
NETWORKS = ("cancer", "survey", "asia", "sachs", "child", "alarm")
RANDOM, SIZES, DENSITIES = "random-", (5, 8, 12, 20, 30), (0.8, 1.2, 1.6)
SEED, FIRST = 9_000, 3_000  # the seeds of the first random network, of the first sample
RUNS, CHOOSING = 20, 12  # of networks, of random ones

Runs = NDArray[np.float64]  # (runs, 3): skeleton F1, directed F1, SHD


class Cell(NamedTuple):
    """What is run, on which network or size of random ones, at how many rows and which epsilon."""

    column: str
    dataset: str
    rows: int
    epsilon: float


@lru_cache(maxsize=40)
def sample(dataset: str, rows: int, number: int) -> Dataset:
    """The rows of a run."""
    if not dataset.startswith(RANDOM):
        return load_dataset(dataset, n=rows, seed=FIRST + number)
    d, density = int(dataset.removeprefix(RANDOM)), DENSITIES[number % len(DENSITIES)]
    return random_dataset(d, round(density * d), SEED + number, rows)


def measure(cell: Cell) -> None:
    """Run a cell and keep it."""
    found = [
        f1.scores(cell.column, sample(cell.dataset, cell.rows, i), cell.epsilon, i)
        for i in range(CHOOSING if cell.dataset.startswith(RANDOM) else RUNS)
    ]
    rows = [[round(m.skeleton_f1, 4), round(m.directed_f1, 4), m.shd] for m in found]
    with KEPT.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"cell": cell, "runs": rows}) + "\n")
    print(*cell, f1.said(np.array(rows)), flush=True)


def kept() -> dict[Cell, Runs]:
    """The cells that were run."""
    if not KEPT.exists():
        return {}
    lines = map(json.loads, KEPT.read_text(encoding="utf-8").splitlines())
    return {Cell(*line["cell"]): np.array(line["runs"], dtype=float) for line in lines}


def main() -> None:
    """Run what is not kept."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--random", action="store_true")
    parser.add_argument("--datasets", default="")
    parser.add_argument("--columns", default=",".join(COLUMNS))
    options = parser.parse_args()
    names = [f"{RANDOM}{d}" for d in SIZES] if options.random else list(NETWORKS)
    asked = set(filter(None, options.datasets.split(","))) or set(names)
    done = kept()
    for name, rows, epsilon, column in product(names, ROWS, EPSILONS, options.columns.split(",")):
        cell = Cell(column, name, rows, epsilon)
        if name in asked and cell not in done:
            measure(cell)


if __name__ == "__main__":
    main()
