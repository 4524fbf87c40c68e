"""Does the search find what a full grid finds? ``python -m benchmarks.search_grid``.

For Priv-PC over t and m and CURATE over its two margins, on three networks at ε = 1: a grid of
SIDE x SIDE settings with PILOT seeds each, whose best TOP get SECOND more; and SEARCHES searches of
200 runs. What the grid chose and what each search chose are then run on the same FINAL seeds that
neither saw, so that the difference's error is small. Kept in benchmarks/results/search_grid.jsonl,
where a line that is there is not run again; the table is that of docs/reference/recommended.md.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.recommended import DOC
from benchmarks.utility import DELTA
from benchmarks.written import put
from engine import ALGORITHMS, load_dataset
from engine.data.dataset import Dataset
from engine.runner import run
from engine.studies.tuning import REPORTED, Score, Search, axes

RAN = Path(__file__).parent / "results" / "search_grid.jsonl"
OVER = {"priv_pc": ("tweak", "subsample"), "curate_pc": ("beta1", "beta2")}
NETWORKS = ("cancer", "survey", "asia")
ROWS, EPSILON = 100_000, 1.0
RUNS, SEARCHES = 200, 5
SIDE, PILOT, TOP, SECOND = 12, 8, 12, 40
SEEDS = 5_000  # the first of the grid's; a search counts from 0
FINAL, REPORT = 2_000_000, 100  # the first of the last seeds, and how many
FIXED: dict[str, Any] = {"epsilon": EPSILON, "delta": DELTA, "guarantee": "strict"}

Params = Mapping[str, Any]


def scores(key: str, data: Dataset, params: Params, seeds: Sequence[int]) -> list[float]:
    """Skeleton F1 of the links tested to the end, a seed each."""
    found = []
    for seed in seeds:
        metrics = run(key, data, seed=seed, trace=False, **FIXED, **params).metrics_tested
        assert metrics is not None
        found.append(metrics.skeleton_f1)
    return found


def best_of_grid(key: str, data: Dataset) -> dict[str, Any]:
    """The setting with the highest mean, the best of a first look being looked at again."""
    over = axes(key, data.n, OVER[key])
    settings: list[dict[str, Any]] = [{}]  # the default is among what a search tries
    for values in product(*(axis.grid(SIDE) for axis in over)):
        settings.append(dict(zip(OVER[key], values, strict=True)))
    first = [scores(key, data, s, range(SEEDS, SEEDS + PILOT)) for s in settings]
    order = np.argsort([-np.mean(f) for f in first], kind="stable")[:TOP]
    more = range(SEEDS + PILOT, SEEDS + PILOT + SECOND)
    second = {k: float(np.mean(first[k] + scores(key, data, settings[k], more))) for k in order}
    best: dict[str, Any] = settings[max(second, key=second.__getitem__)]
    return best


def compared(key: str, name: str) -> dict[str, Any]:
    """What the grid and the searches chose, and the scores of all on seeds that none saw."""
    data = load_dataset(name, n=ROWS, seed=0)
    grid = best_of_grid(key, data)
    found = [
        dict(Search(key, data, FIXED, OVER[key], runs=RUNS, seed=seed).tune().params)
        for seed in range(SEARCHES)
    ]
    last = range(FINAL, FINAL + REPORT)
    told = [scores(key, data, params, last) for params in (grid, *found, {})]
    rows = [[round(score, 4) for score in one] for one in told]
    return {
        "algorithm": key, "network": name, "grid": grid, "found": found,
        "grid_scores": rows[0], "found_scores": rows[1:-1], "default_scores": rows[-1],
    }  # fmt: skip


def kept() -> list[dict[str, Any]]:
    """What was run."""
    if not RAN.exists():
        return []
    return list(map(json.loads, RAN.read_text(encoding="utf-8").splitlines()))


def _error(values: Iterable[float]) -> float:
    return Score.of(values).error


def gaps(one: Mapping[str, Any]) -> list[float]:
    """How far each search stays behind the grid, in standard errors of a mean as Tune tells it.

    That is one of REPORTED runs; where all runs of the grid's best come to the same, 0.
    """
    grid = np.array(one["grid_scores"])
    unit = float(grid.std(ddof=1)) / math.sqrt(REPORTED)
    behind = (float(grid.mean() - np.mean(f)) for f in one["found_scores"])
    return [gap / unit if gap else 0.0 for gap in behind]


def table(found: Sequence[Mapping[str, Any]]) -> str:
    """A line for each algorithm and network."""
    heads = ("", "", "default", "grid's best", "searches", "behind, in errors of 20 runs")
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    for one in found:
        grid = one["grid_scores"]
        means = [f"{np.mean(f):.3f}" for f in one["found_scores"]]
        cells = (
            ALGORITHMS[one["algorithm"]].title,
            one["network"].capitalize(),
            f"{np.mean(one['default_scores']):.3f}",
            f"{np.mean(grid):.3f} ± {_error(grid):.3f}",
            ", ".join(means),
            ", ".join(f"{gap:+.1f}".replace("-", "−") for gap in gaps(one)),
        )
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    """Run what is not kept, then write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", action="store_true", help="run nothing")
    options = parser.parse_args()
    done = {(one["algorithm"], one["network"]) for one in kept()}
    for key, name in () if options.tables else product(OVER, NETWORKS):
        if (key, name) not in done:
            start = time.process_time()
            one = compared(key, name)
            with RAN.open("a", encoding="utf-8") as file:
                file.write(json.dumps(one) + "\n")
            seconds = time.process_time() - start
            print(key, name, one["grid"], one["found"], [f"{g:+.2f}" for g in gaps(one)],
                  f"{seconds:.0f} s", flush=True)  # fmt: skip
    put(DOC, "benchmarks.search_grid", table(kept()))


if __name__ == "__main__":
    main()
