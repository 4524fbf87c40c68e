"""Does the search find what a full grid finds? ``python -m benchmarks.search_grid``.

For Priv-PC over t and m and CURATE over its two margins, on three networks at ε = 1: a grid of
SIDE x SIDE settings with PILOT seeds each, the best TOP get SECOND more; and SEARCHES searches of
200 runs. What the grid chose and what each search chose are then run on the same FINAL seeds that
neither saw: so many that the difference is known to a quarter of what is asked about. Kept in
benchmarks/results/search_grid.jsonl, where a choice that is there is not made nor scored again
on as many seeds; the table is that of docs/research/recommended.md.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.kept import lines
from benchmarks.recommended import RESULTS
from benchmarks.utility import DELTA
from benchmarks.written import put
from engine import ALGORITHMS, load_dataset
from engine.data.dataset import Dataset
from engine.runner import run
from engine.studies.tune import SEEDS as REPORTED
from engine.studies.tune import axes, tune

RAN = Path(__file__).parent / "results" / "search_grid.jsonl"
OVER = {"priv_pc": ("tweak", "subsample"), "curate_pc": ("beta1", "beta2")}
NETWORKS = ("cancer", "survey", "asia")
ROWS, EPSILON = 100_000, 1.0
RUNS, SEARCHES = 200, 5
SIDE, PILOT, TOP, SECOND = 12, 8, 12, 40
SEEDS = 5_000  # the first of the grid's; a search counts from 0
FINAL, REPORT = 2_000_000, 1_000  # the first of the last seeds, and how many
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


def chosen(key: str, name: str) -> dict[str, Any]:
    """What the grid and the searches chose."""
    data = load_dataset(name, n=ROWS, seed=0)
    found = [
        dict(tune(key, data, FIXED, OVER[key], runs=RUNS, seed=seed).params)
        for seed in range(SEARCHES)
    ]
    return {"algorithm": key, "network": name, "grid": best_of_grid(key, data), "found": found}


def scored(one: Mapping[str, Any]) -> dict[str, Any]:
    """The choices with the scores of all, and of the default, on seeds that none saw.

    Each as (mean, standard deviation); a search's also with how far it stays behind the grid in the
    mean, and that difference's standard error.
    """
    key, data = one["algorithm"], load_dataset(one["network"], n=ROWS, seed=0)
    last = range(FINAL, FINAL + REPORT)
    grid, default, *found = (
        np.array(scores(key, data, params, last)) for params in (one["grid"], {}, *one["found"])
    )
    behind = [[*_row(f), *_row(grid - f, REPORT)] for f in found]
    made = {"grid_scores": _row(grid), "default_scores": _row(default), "found_scores": behind}
    return {**one, "seeds": REPORT, **made}


def _row(values: NDArray[np.float64], of: int = 1) -> list[float]:
    """Mean and standard deviation; with ``of`` that of a mean of so many."""
    return [round(float(values.mean()), 5), round(float(values.std(ddof=1)) / math.sqrt(of), 5)]


def kept() -> list[dict[str, Any]]:
    """What was run."""
    return lines(RAN)


def gaps(one: Mapping[str, Any]) -> list[tuple[float, float]]:
    """How far each search stays behind the grid, and the error of that, in standard errors of a
    mean as Tune tells it.

    That is one of REPORTED runs; where all runs of the grid's best come to the same, 0.
    """
    unit = one["grid_scores"][1] / math.sqrt(REPORTED)
    return [
        (gap / unit, error / unit) if gap else (0.0, 0.0) for *_, gap, error in one["found_scores"]
    ]


def table(found: Sequence[Mapping[str, Any]]) -> str:
    """A line for each algorithm and network."""
    heads = ("", "", "default", "grid's best", "searches", "behind, in errors of 20 runs")
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    for one in found:
        mean, deviation = one["grid_scores"]
        cells = (
            ALGORITHMS[one["algorithm"]].title,
            one["network"].capitalize(),
            f"{one['default_scores'][0]:.3f}",
            f"{mean:.3f} ± {deviation / math.sqrt(one['seeds']):.3f}",
            ", ".join(f"{own:.3f}" for own, *_ in one["found_scores"]),
            ", ".join(f"{gap:+.1f} ± {error:.1f}".replace("-", "−") for gap, error in gaps(one)),
        )
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    """Run what is not kept, then write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", action="store_true", help="run nothing")
    options = parser.parse_args()
    known = {(one["algorithm"], one["network"]): one for one in kept()}
    for key, name in () if options.tables else product(OVER, NETWORKS):
        one = known.get((key, name))
        if one is None or one.get("seeds") != REPORT:
            start = time.process_time()
            known[key, name] = one = scored(one or chosen(key, name))
            texts = (json.dumps(known[case]) for case in product(OVER, NETWORKS) if case in known)
            RAN.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
            seconds = time.process_time() - start
            said = [f"{gap:+.2f}±{error:.2f}" for gap, error in gaps(one)]
            print(key, name, one["grid"], said, f"{seconds:.0f} s", flush=True)
    put(RESULTS, "benchmarks.search_grid", table(kept()))


if __name__ == "__main__":
    main()
