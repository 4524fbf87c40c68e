"""Utility at equal total budget: ``python -m benchmarks.utility``.

One table, dataset by epsilon: skeleton F1 against the true DAG of non-private G2 PC and of every
private algorithm, mean over noise draws and samples. Strict runs get the total. A published run
gets the epsilon a round for which the total that the *paper* claims for that very run is the one
asked for; what can be defended of it is usually nothing.
"""

from __future__ import annotations

import argparse
import math
import warnings
from collections.abc import Callable

from engine import ALGORITHMS, InputError, load_dataset, run
from engine.data.dataset import Dataset
from engine.runner import RunResult

DELTA = 1e-6
OURS = ("marginal_pc", "gram_notears")
SMALL = ("cancer", "earthquake", "survey", "asia", "sachs")
STEPS = 12  # of the bisection, on a logarithmic scale


def columns() -> list[tuple[str, str]]:
    """(algorithm, guarantee) of each column: ours first.

    The published score-based methods claim totals for which nothing can be defended and take
    minutes in the search for the right epsilon: docs/score_based.md has them.
    """
    found = []
    for key, algorithm in ALGORITHMS.items():
        specs = {s.name: s for s in algorithm.params.specs()}
        if algorithm.private and "guarantee" in specs:
            choices = specs["guarantee"].choices
            found += [(key, g) for g in choices if g == "strict" or "statistic" in specs]
    return sorted(found, key=lambda c: (c[0] not in OURS, c))


def strict(key: str, data: Dataset, epsilon: float, seed: int) -> RunResult:
    """A run under the hard cap."""
    return run(key, data, epsilon=epsilon, delta=DELTA, guarantee="strict", seed=seed, trace=False)


def published(key: str, data: Dataset, epsilon: float, seed: int) -> RunResult | None:
    """The run with the largest epsilon found whose claimed total does not exceed ``epsilon``."""
    low, high, best = math.log(epsilon * 1e-5), math.log(epsilon), None
    for _ in range(STEPS):
        middle = (low + high) / 2
        result = run(
            key,
            data,
            epsilon=math.exp(middle),
            delta=DELTA,
            guarantee="published",
            seed=seed,
            trace=False,
        )
        if result.claimed is None:
            return None
        if result.claimed.epsilon <= epsilon:
            low, best = middle, result
        else:
            high = middle
    return best


RUN: dict[str, Callable[[str, Dataset, float, int], RunResult | None]] = {
    "strict": strict,
    "published": published,
}


def mean_f1(results: list[RunResult | None]) -> str:
    """Mean skeleton F1, or a dash where the algorithm has none."""
    scores = [r.metrics.skeleton_f1 for r in results if r is not None and r.metrics is not None]
    return f"{sum(scores) / len(scores):.3f}" if scores else "-"


def cell(key: str, guarantee: str, samples: list[Dataset], epsilon: float, draws: int) -> str:
    """Mean F1 over draws and samples; a dash where it cannot be run."""
    try:
        return mean_f1(
            [
                RUN[guarantee](key, data, epsilon, 1000 * s + draw)
                for s, data in enumerate(samples)
                for draw in range(draws)
            ]
        )
    except InputError:
        return "-"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--datasets", default=",".join(SMALL))
    parser.add_argument("--algorithms", default="", help="default: all")
    parser.add_argument("--draws", type=int, default=2)
    parser.add_argument("--samples", type=int, default=1)
    parser.add_argument("--epsilons", default="0.1,1")
    parser.add_argument("--n", type=int, default=100_000)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    wanted = set(filter(None, options.algorithms.split(",")))
    shown = [c for c in columns() if not wanted or c[0] in wanted]
    heads = ["dataset", "eps", "g2 pc", *(f"{k} {g[:3]}" for k, g in shown)]
    print(" | ".join(heads))
    print(" | ".join("---" for _ in heads), flush=True)
    for name in options.datasets.split(","):
        samples = [load_dataset(name, n=options.n, seed=s) for s in range(options.samples)]
        plain = mean_f1([run("pc", data, statistic="g2", trace=False) for data in samples])
        for epsilon in map(float, options.epsilons.split(",")):
            row = [name, f"{epsilon:g}", plain]
            row += [cell(k, g, samples, epsilon, options.draws) for k, g in shown]
            print(" | ".join(row), flush=True)


if __name__ == "__main__":
    main()
