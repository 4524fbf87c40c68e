"""What is best by the number of rows: ``python -m benchmarks.rows``.

Marginal PC, Gram-NOTEARS and two rivals at 1,000 to 100,000 rows; every run has a sample and a
separate noise seed. Runs are kept in benchmarks/results/rows.jsonl, and a cell that is kept is
not run again. The last step writes the table of docs/research/marginal_pc.md; ``--tables`` does
that alone.
"""

from __future__ import annotations

import argparse
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks import f1
from benchmarks.kept import keep, lines
from benchmarks.utility import DELTA
from benchmarks.written import put
from engine import load_dataset
from engine.algorithms.auto import AutoParameters, choice_for

KEPT = Path(__file__).parent / "results" / "rows.jsonl"
DOC = Path(__file__).resolve().parent.parent / "docs" / "research" / "marginal_pc.md"
MARK = "benchmarks.rows"
COLUMNS = ("marginal_pc", "gram_notears", "chow_liu", "mst_half")
ROWS, EPSILONS = (1_000, 3_000, 10_000, 30_000, 100_000), (0.1, 1.0)
NUMBERS = "sem:er:10:12:gaussian"  # ten numeric columns, a separate network for each run
NETWORKS = ("cancer", "asia", "child", "insurance", "alarm", NUMBERS)
FIRST, RUNS = 3_000, 20  # the seed of the first sample

Runs = NDArray[np.float64]  # (runs, 3): skeleton F1, directed F1, SHD


class Cell(NamedTuple):
    """What is run, on which network or size of random ones, at how many rows and which epsilon."""

    column: str
    dataset: str
    rows: int
    epsilon: float


def chosen(dataset: str, rows: int, epsilon: float) -> str:
    """The key of what auto takes."""
    data = load_dataset(dataset, n=rows, seed=FIRST)
    return choice_for(data, AutoParameters(epsilon=epsilon, delta=DELTA)).algorithm.key


def measure(cell: Cell) -> None:
    """Run a cell and keep it."""
    found = [
        f1.scores(
            cell.column,
            load_dataset(cell.dataset, n=cell.rows, seed=FIRST + i),
            cell.epsilon,
            i,
        )
        for i in range(RUNS)
    ]
    rows = [[round(m.skeleton_f1, 4), round(m.directed_f1, 4), m.shd] for m in found]
    keep(KEPT, {"cell": cell, "runs": rows})
    print(*cell, f1.said(np.array(rows)), flush=True)


def kept() -> dict[Cell, Runs]:
    """The cells that were run."""
    return {Cell(*line["cell"]): np.array(line["runs"], dtype=float) for line in lines(KEPT)}


def table(found: dict[Cell, Runs]) -> str:
    """A line for each network, epsilon and number of rows: skeleton / directed F1."""
    heads = (
        "",
        "ε",
        "rows",
        "marginal_pc",
        "gram_notears",
        "Chow–Liu",
        "MST, half ε",
        "auto takes",
    )
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    for name, epsilon, rows in product(NETWORKS, EPSILONS, ROWS):
        cells = [found.get(Cell(column, name, rows, epsilon)) for column in COLUMNS]
        if all(runs is not None for runs in cells):
            said = [f1.said(runs) for runs in cells if runs is not None]
            title = "Ten numbers" if name == NUMBERS else name.capitalize()
            label = (title, f"{epsilon:g}", f"{rows:,}")
            lines.append("| " + " | ".join((*label, *said, chosen(name, rows, epsilon))) + " |")
    return "\n".join(lines)


def main() -> None:
    """Run what is not kept, then write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--datasets", default=",".join(NETWORKS))
    parser.add_argument("--tables", action="store_true")
    options = parser.parse_args()
    asked, done = options.datasets.split(","), kept()
    grid = () if options.tables else product(asked, ROWS, EPSILONS, COLUMNS)
    for name, rows, epsilon, column in grid:
        cell = Cell(column, name, rows, epsilon)
        if cell not in done:
            measure(cell)
    put(DOC, MARK, table(kept()))


if __name__ == "__main__":
    main()
