"""What is invented where nothing is, over a grid: ``python -m benchmarks.null``.

Independent columns; the mean number of links a run, over ``--draws`` tables. Cells are kept in
benchmarks/results/null.jsonl, one after the other, and a cell that is kept is not run again
(``--again`` runs all). The last step writes the tables into docs/explanation/marginal_pc.md and
docs/explanation/score_based.md; ``--tables`` does that alone.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import NamedTuple

from benchmarks.written import put
from engine.studies.null import Invented, Shape, invented

KEPT = Path(__file__).parent / "results" / "null.jsonl"
DOCS = Path(__file__).resolve().parent.parent / "docs" / "explanation"
WRITTEN = {"marginal_pc": DOCS / "marginal_pc.md", "gram_notears": DOCS / "score_based.md"}
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


def grid() -> Iterator[Cell]:
    """Narrow tables first; of wide ones fewer."""
    kinds = [((0.5,), 2), (MIXED, 2), ((0.01,), 2), ((0.5, 0.1), 4), ((0.8, 0.1), 12)]
    for d, rows, epsilon, kind in product(
        (4, 8, 16), (1_000, 100_000), (0.01, 0.1, 1.0, 10.0), kinds
    ):
        if d * kind[1] <= 100:
            yield Cell(d, rows, epsilon, *kind)
    for epsilon, kind in product((0.01, 0.1, 1.0, 10.0), kinds[1:4]):
        yield Cell(8, 1_000_000, epsilon, *kind)
    for d, epsilon, kind in product((40, 200), (0.1, 1.0, 10.0), kinds[1:2]):
        yield Cell(d, 3_000, epsilon, *kind)


Kept = dict[str, dict[Cell, list[int]]]  # algorithm -> cell -> links of each run


def kept() -> Kept:
    """The cells that were measured."""
    out: Kept = {key: {} for key in WRITTEN}
    if KEPT.exists():
        for line in map(json.loads, KEPT.read_text(encoding="utf-8").splitlines()):
            d, rows, epsilon, margins, levels = line["cell"]
            out[line["algorithm"]][Cell(d, rows, epsilon, tuple(margins), levels)] = line["links"]
    return out


def measure(key: str, cell: Cell, draws: int) -> None:
    """Run a cell and keep it."""
    found = invented(
        key,
        Shape((cell.levels,) * cell.d, cell.rows),
        {"epsilon": cell.epsilon, "delta": DELTA},
        draws=max(draws // 5, 1) if cell.d >= 100 else draws,
        margins=cell.margins,
    )
    assert found is not None
    line = {"algorithm": key, "cell": cell, "links": found.counts}
    with KEPT.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")
    print(key, *cell, f"{found.mean:.2f}", flush=True)


def table(cells: dict[Cell, list[int]]) -> str:
    """Mean over the cells with a value, and the highest of them, for each value of each factor."""
    means = {cell: Invented(tuple(links)) for cell, links in cells.items()}
    run = f"{len(cells)} of {len(list(grid()))} cells run"
    lines = [f"| {run} | cells | links invented a run, mean | highest of a cell |"]
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
    """Run what is not kept, then write the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=30)
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--tables", action="store_true")
    options = parser.parse_args()
    if options.again:
        KEPT.unlink(missing_ok=True)
    if not options.tables:
        done = kept()
        for key, cell in product(WRITTEN, grid()):
            if cell not in done[key]:
                measure(key, cell, options.draws)
    write(kept())


if __name__ == "__main__":
    main()
