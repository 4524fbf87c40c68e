"""How many tests the algorithms run, beside the papers' own counts: Markdown tables.

    python -m benchmarks.ci_tests [--runs 50] [--datasets cancer,asia]

n = 100,000 rows of each network, drawn once; every run redraws the noise. Published mode with the
papers' settings: Priv-PC Table 3 has epsilon = 1 a round, T = 0.10, delta = 1e-3; CURATE Table 5
has T = 0.05, no sub-sampling, delta' = 1e-12 (an order's share of the total) and epsilon = 1.
"""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Iterator
from statistics import mean, stdev
from typing import Any

import numpy as np

from engine import Dataset, load_dataset, run

PRIV = ("earthquake", "cancer", "asia", "survey", "sachs", "child", "alarm")
CURATE = ("cancer", "earthquake", "survey", "asia", "sachs", "child")

# (paper, algorithm) -> its counts in the order above; ">7000" is kept as 7000.
PAPER = {
    ("Priv-PC Table 3", "priv_pc"): (40, 37, 95, 29, 165, 1162, 1843),
    ("Priv-PC Table 3", "em_pc"): (61, 57, 216, 38, 1224, 7393, 12979),
    ("CURATE Table 5", "pc"): (None, None, None, 20, 43, 169),
    ("CURATE Table 5", "curate_pc"): (24, 23, 38, 77, 146, 575),
    ("CURATE Table 5", "svt_pc"): (26, 24, 38, 75, 133, 433),
    ("CURATE Table 5", "priv_pc"): (58, 68, 48, 171, 327, 1478),
    ("CURATE Table 5", "em_pc"): (60, 68, 50, 215, 856, 7000),
}


# What else the paper may have counted or run; the count under this reading has a column of its own.
READING = {
    ("Priv-PC Table 3", "priv_pc"): "examined queries counted once, levels coded alphabetically",
    ("Priv-PC Table 3", "em_pc"): "T = 0.10 for G² too",
    ("CURATE Table 5", "pc"): "deleted edges counted, not tests",
    ("CURATE Table 5", "svt_pc"): "ε = 1 in total: 0.1 a round, levels coded alphabetically",
    ("CURATE Table 5", "priv_pc"): "ε = 1 in total: 0.1 a round, levels coded alphabetically",
    ("CURATE Table 5", "em_pc"): "ε = 1 in total: 0.1 a round, T = 0.05 for G² too",
}

WHY = {
    ("Priv-PC Table 3", "priv_pc"): "An examined query is two tests here; the paper's counts fit "
    "one. Rank tests depend on the order of the levels; most of the paper's counts fit the order "
    "of the labels, which a label encoder gives. Survey and Sachs stay unexplained.",
    ("Priv-PC Table 3", "em_pc"): "The paper gives neither T for G² nor the greedy distance, which "
    "together decide how many edges live on to the next order, where each doubles the sets to try.",
    ("CURATE Table 5", "pc"): "The paper's numbers are below the number of pairs (28, 55, 190), "
    "all of which order 0 tests; they match the number of deleted edges.",
    ("CURATE Table 5", "curate_pc"): "For a total of 1 the optimum of (3) gives everything to "
    "order 0, which has d(d − 1)/2 tests. The paper's counts need budgets for later orders; (2) "
    "and (3) do not give them.",
    ("CURATE Table 5", "svt_pc"): "The table's ε = 1 is a total, Priv-PC's the cost of a round; a "
    "round's is not given. The largest differences, Sachs and Child, fall to −16 % and +12 % so.",
    ("CURATE Table 5", "priv_pc"): "As for SVT-PC. The paper's small networks take about 1.6 times "
    "our tests, as if ordered pairs were asked twice.",
    ("CURATE Table 5", "em_pc"): "As for Priv-PC Table 3; a smaller budget a round keeps more "
    "edges and fits Asia and Child. The two papers' own counts for Sachs differ by 43 %.",
}


def settings(paper: str, key: str, d: int) -> dict[str, Any]:
    """The paper's parameters for one algorithm on d variables."""
    if key == "pc":
        return {"threshold": 0.05}
    chosen: dict[str, Any] = {"guarantee": "published", "epsilon": 1.0}
    if paper == "Priv-PC Table 3":
        return chosen | {"delta": 1e-3} | ({} if key == "em_pc" else {"threshold": 0.10})
    chosen |= {"delta": 1e-12}
    if key == "curate_pc":
        chosen["delta"] = 1e-12 * min(12, d - 1)  # delta' = 1e-12 for each order
    if key == "priv_pc":
        chosen["subsample"] = "off"
    return chosen | ({} if key == "em_pc" else {"threshold": 0.05})


def alphabetical(data: Dataset) -> Dataset:
    """The same rows with every column's levels coded in the order of their labels."""
    orders = [sorted(range(len(labels)), key=labels.__getitem__) for labels in data.levels]
    codes = np.empty_like(data.codes, order="F")
    for j, order in enumerate(orders):
        codes[:, j] = np.argsort(order)[data.codes[:, j]]
    codes.flags.writeable = False
    levels = tuple(
        tuple(labels[i] for i in order) for labels, order in zip(data.levels, orders, strict=True)
    )
    return dataclasses.replace(data, codes=codes, levels=levels)


def read_otherwise(paper: str, key: str, data: Dataset, options: dict[str, Any], seed: int) -> int:
    """The count of one run under the other reading."""
    if key == "em_pc":
        changed = {"threshold": 0.10} if paper.startswith("Priv") else {"threshold": 0.05}
    else:
        changed = {}
    if paper.startswith("CURATE") and key != "pc":
        changed["epsilon"] = 0.1
    result = run(key, data, seed=seed, trace=False, **(options | changed))
    if key == "pc":
        return len(result.separating_sets)
    once = paper.startswith("Priv") and key == "priv_pc"
    return result.ci_tests - (sum(c.label == "examine" for c in result.ledger) if once else 0)


def counts(paper: str, key: str, name: str, runs: int) -> tuple[float, float, float | None]:
    """(mean, standard deviation) of the number of tests, and the mean under the other reading."""
    data = load_dataset(name, n=100_000, seed=0)
    options = settings(paper, key, data.d)
    seeds = range(1 if key == "pc" else runs)
    tests = [run(key, data, seed=s, trace=False, **options).ci_tests for s in seeds]
    spread = stdev(tests) if len(seeds) > 1 else 0.0
    if (paper, key) not in READING:
        return mean(tests), spread, None
    other = alphabetical(data) if key in {"priv_pc", "svt_pc"} else data
    read = [read_otherwise(paper, key, other, options, s) for s in seeds]
    return mean(tests), spread, mean(read)


def percent(ours: float | None, theirs: int | None) -> str:
    """The count with its difference from the paper's."""
    if ours is None or theirs is None:
        return "–" if ours is None else f"{ours:,.0f}"
    return f"{ours:,.0f} ({100 * (ours / theirs - 1):+.0f} %)"


def lines(runs: int, only: set[str]) -> Iterator[str]:
    """A Markdown table for each paper and algorithm, and its one-line explanation."""
    for (paper, key), published in PAPER.items():
        other = READING.get((paper, key), "–")
        yield f"\n### {paper}: {key}\n"
        yield f"| dataset | paper | ours, mean of {runs} (s.d.) | other reading: {other} |"
        yield "|---|---:|---:|---:|"
        names = PRIV if paper.startswith("Priv") else CURATE
        for name, theirs in zip(names, published, strict=True):
            if only and name not in only:
                continue
            ours, spread, read = counts(paper, key, name, runs)
            shown = "not read" if theirs is None else f"{theirs:,}"
            row = (name, shown, f"{percent(ours, theirs)} ({spread:.0f})", percent(read, theirs))
            yield f"| {' | '.join(row)} |"
        yield f"\n{WHY[paper, key]}"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description="CI-test counts beside the papers'")
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--datasets", default="", help="comma-separated; default: all")
    given = parser.parse_args()
    only = {name for name in given.datasets.split(",") if name}
    for line in lines(given.runs, only):
        print(line, flush=True)


if __name__ == "__main__":
    main()
