"""False positives on independent data, over a grid: ``python -m benchmarks.null``.

Independent columns; the mean number of edges per run, over ``--draws`` tables. Cells are kept in
benchmarks/results/null.jsonl, one after the other, and a cell that is kept is not run again
(``--again`` runs all). The last step writes the tables into research/marginal_pc.md and
score_based.md; ``--tables`` does that alone.
"""

from __future__ import annotations

import argparse
import random
from itertools import product
from pathlib import Path
from typing import NamedTuple

from benchmarks.kept import keep, lines
from benchmarks.written import put
from engine.studies.detectability import Invented, Shape
from engine.studies.repeat import invented

KEPT = Path(__file__).parent / "results" / "null.jsonl"
RESEARCH = Path(__file__).resolve().parent.parent / "research"
WRITTEN = {
    "marginal_pc": RESEARCH / "marginal_pc.md",
    "gram_notears": RESEARCH / "score_based.md",
}
MARK = "benchmarks.null"
MIXED = (0.5, 0.3, 0.1, 0.02)
DELTA = 1e-6


class Cell(NamedTuple):
    """Columns, rows, epsilon, shares that are not at the first level, levels."""

    d: int
    rows: int
    epsilon: float
    margins: tuple[float, ...]
    levels: int


def grid() -> list[Cell]:
    """All cells, shuffled: if the run is stopped, every value of every factor has been met."""
    kinds = [((0.5,), 2), (MIXED, 2), ((0.01,), 2), ((0.5, 0.1), 4), ((0.8, 0.1), 12)]
    epsilons, narrow, wide = (0.01, 0.1, 1.0, 10.0), (1_000, 100_000), (3_000, 100_000)
    cells = [
        Cell(d, rows, epsilon, *kind)
        for d, rows, epsilon, kind in product((4, 8, 16), narrow, epsilons, kinds)
        if d * kind[1] <= 100
    ]
    cells += [Cell(8, 1_000_000, e, *kind) for e, kind in product(epsilons, kinds[1:4])]
    cells += [Cell(40, rows, e, *kind) for rows, e, kind in product(wide, epsilons, kinds[1:3])]
    cells += [Cell(200, rows, e, *kinds[1]) for rows, e in product(wide, epsilons)]
    random.Random(0).shuffle(cells)
    return cells


Kept = dict[str, dict[Cell, list[int]]]  # algorithm -> cell -> links of each run


def kept() -> Kept:
    """The cells that were measured."""
    out: Kept = {key: {} for key in WRITTEN}
    for line in lines(KEPT):
        d, rows, epsilon, margins, levels = line["cell"]
        out[line["algorithm"]][Cell(d, rows, epsilon, tuple(margins), levels)] = line["links"]
    return out


def fewer(key: str, cell: Cell, draws: int) -> int:
    """Return fewer draws for 100 columns or more: a third, or a sixth for Gram NOTEARS."""
    part = {"marginal_pc": 3, "gram_notears": 6}[key] if cell.d >= 100 else 1
    return max(draws // part, 1)


def measure(key: str, cell: Cell, draws: int) -> None:
    """Run a cell and keep it."""
    found = invented(
        key,
        Shape((cell.levels,) * cell.d, cell.rows),
        {"epsilon": cell.epsilon, "delta": DELTA},
        draws=fewer(key, cell, draws),
        margins=cell.margins,
    )
    assert found is not None
    keep(KEPT, {"algorithm": key, "cell": cell, "links": found.counts})
    print(key, *cell, f"{found.mean:.2f}", flush=True)


def table(cells: dict[Cell, list[int]]) -> str:
    """Mean over the cells with a value, and the highest of them, for each value of each factor."""
    means = {cell: Invented(tuple(links)) for cell, links in cells.items()}
    run = f"{len(cells)} of {len(grid())} cells run"
    lines = [f"| {run} | cells | false links per run, mean | highest of a cell |"]
    lines.append("|---|---|---|---|")
    for at, title in enumerate(("columns", "rows", "ε", "shares", "levels")):
        for value in sorted({cell[at] for cell in means}, key=str if at == 3 else None):
            some = [m for cell, m in means.items() if cell[at] == value]
            worst = max(some, key=lambda m: m.mean)
            mean = sum(m.mean for m in some) / len(some)
            lines.append(
                f"| {title} {_said(value)} | {len(some)} | {mean:.2f} | "
                f"{worst.mean:.2f} ± {worst.error:.2f} |"
            )
    return "\n".join(lines)


def _said(value: object) -> str:
    if isinstance(value, list | tuple):
        return " ".join(f"{v:g}" for v in value)
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"


def write(found: Kept) -> None:
    """Put each algorithm's table into its document."""
    for key, path in WRITTEN.items():
        put(path, MARK, table(found[key]))


def main() -> None:
    """Run the missing cells, then write the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=30)
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--tables", action="store_true")
    options = parser.parse_args()
    if options.again:
        KEPT.unlink(missing_ok=True)
    if not options.tables:
        for cell, key in product(grid(), WRITTEN):
            if cell not in kept()[key]:
                measure(key, cell, options.draws)
    write(kept())


if __name__ == "__main__":
    main()
