"""Utility at equal total budget: ``python -m benchmarks.utility``.

One table, dataset by epsilon. Each cell holds skeleton F1 / directed F1 with standard errors, SHD
against the CPDAG of the true DAG, seconds per run, and the number of false positives of a run on
independent columns with the same levels and rows, mean over noise draws and samples: of non-private
G2 PC, of every private algorithm, and of peers' synthetic tables followed by G2 PC
(benchmarks.peers): "rep" for the same neighbours as ours, one replaced record, "add" at the same
epsilon for theirs, one added or removed record, which is a weaker guarantee.

Strict runs get the total. A published run gets the ε per round for which its Claimed ε is the
wanted total; it usually has no guarantee.
"""

from __future__ import annotations

import argparse
import math
import time
import warnings
from collections.abc import Callable
from statistics import stdev

from benchmarks import peers
from engine import ALGORITHMS, InputError, load_dataset, run
from engine.data.dataset import Dataset
from engine.privacy.accounting import Guarantee
from engine.result import RunResult
from engine.studies.detectability import Shape

DELTA = 1e-6
SMALL = ("cancer", "earthquake", "survey", "asia", "sachs")
REPLACED, ADDED = "rep", "add"
Run = tuple[RunResult, float]  # and its seconds
STEPS = 12  # of the bisection, on a logarithmic scale


def columns() -> list[tuple[str, str]]:
    """(algorithm, guarantee) of each column: ours first.

    The published score-based methods claim totals without a proof and take minutes in the search
    for the right epsilon: research/theory/score_based.md has them.
    """
    found = []
    for key, algorithm in ALGORITHMS.items():
        specs = {s.name: s for s in algorithm.params.specs()}
        if algorithm.private and "guarantee" in specs and not algorithm.chooses:
            choices = specs["guarantee"].choices
            found += [(key, g) for g in choices if g == "strict" or "statistic" in specs]
    return sorted(found, key=lambda c: (not ALGORITHMS[c[0]].ours, c))


def strict(key: str, data: Dataset, epsilon: float, seed: int) -> RunResult:
    """A run under the hard cap."""
    return run(key, data, epsilon=epsilon, delta=DELTA, guarantee="strict", seed=seed, trace=False)


def published(key: str, data: Dataset, epsilon: float, seed: int) -> RunResult | None:
    """The run with the largest epsilon found that claims a total of at most ``epsilon``."""
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


def peer(kind: str, key: str, data: Dataset, epsilon: float, seed: int) -> Run | None:
    """G2 PC on the peer's synthetic table for the same total."""
    total = Guarantee(epsilon, DELTA)
    if kind == REPLACED:
        total = peers.same_neighbours(total)
    table = peers.synthetic(key, data, total, seed)
    if table is None:
        return None
    start = time.perf_counter()
    result = run("pc", table.data, statistic="g2", trace=False)
    return result, table.seconds + time.perf_counter() - start


def timed(guarantee: str, key: str, data: Dataset, epsilon: float, seed: int) -> Run | None:
    """A run and its seconds."""
    start = time.perf_counter()
    result = RUN[guarantee](key, data, epsilon, seed)
    return None if result is None else (result, time.perf_counter() - start)


def summary(runs: list[Run | None]) -> str:
    """Means of skeleton F1 / directed F1, SHD and seconds; a dash where there are none.

    The standard error takes the runs as independent; a single run has none.
    """
    found = [
        (r.metrics_all, s) for run in runs if run is not None for r, s in [run] if r.metrics_all
    ]
    if not found:
        return "-"
    rows = [(m.skeleton_f1, m.directed_f1, m.shd, seconds) for m, seconds in found]
    skeleton, directed, shd, seconds = (sum(c) / len(rows) for c in zip(*rows, strict=True))
    errors = [
        f" ± {stdev(row[i] for row in rows) / math.sqrt(len(rows)):.3f}" if len(rows) > 1 else ""
        for i in range(2)
    ]
    scores = f"{skeleton:.3f}{errors[0]} / {directed:.3f}{errors[1]}"
    return f"{scores}, {shd:.1f}, {seconds:.1f} s"


def cell(key: str, kind: str, samples: list[Dataset], epsilon: float, draws: int) -> str:
    """Summary over draws and samples; a dash where it cannot be run."""
    runs: list[Run | None] = []

    def one(data: Dataset, seed: int) -> Run | None:
        if kind in (REPLACED, ADDED):
            return peer(kind, key, data, epsilon, seed)
        return timed(kind, key, data, epsilon, seed)

    try:
        for s, data in enumerate(samples):
            runs += [one(data, 1000 * s + draw) for draw in range(draws)]
        nothing = [one(Shape.of(samples[0]).independent(draw), draw) for draw in range(draws)]
    except InputError:
        return "-"
    return summary(runs) + of_nothing(nothing)


def of_nothing(runs: list[Run | None]) -> str:
    """Mean number of links of runs on columns that depend on nothing; untested ones are none."""
    links = [len(r.skeleton) - len(r.untested) for run in runs if run is not None for r, _ in [run]]
    return f", null {sum(links) / len(links):.1f}" if links else ""


def plain(samples: list[Dataset]) -> str:
    """Summary of G2 PC without privacy."""
    runs: list[Run | None] = []
    for data in samples:
        start = time.perf_counter()
        result = run("pc", data, statistic="g2", trace=False)
        runs.append((result, time.perf_counter() - start))
    tables = [Shape.of(samples[0]).independent(draw) for draw in range(len(samples))]
    nothing = [run("pc", data, statistic="g2", trace=False) for data in tables]
    return summary(runs) + of_nothing([(result, 0.0) for result in nothing])


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
    peering = [(key, kind) for key in peers.methods() for kind in (REPLACED, ADDED)]
    shown = [c for c in columns() + peering if not wanted or c[0] in wanted]
    heads = ["dataset", "eps", "g2 pc", *(f"{k} {g[:3]}" for k, g in shown)]
    print(" | ".join(heads))
    print(" | ".join("---" for _ in heads), flush=True)
    for name in options.datasets.split(","):
        samples = [load_dataset(name, n=options.n, seed=s) for s in range(options.samples)]
        without = plain(samples)
        for epsilon in map(float, options.epsilons.split(",")):
            row = [name, f"{epsilon:g}", without]
            row += [cell(k, g, samples, epsilon, options.draws) for k, g in shown]
            print(" | ".join(row), flush=True)


if __name__ == "__main__":
    main()
