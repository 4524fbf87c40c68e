"""Directions from a run's questions and releases: ``python -m benchmarks.directions``.

Every run's links are directed again, at no cost, in two more ways. By *votes*: the sets that
separated a pair, weighed against each other (:mod:`engine.graphs.weighed_colliders`). By *values*:
the noisy statistics of the tests that were asked and released, each as the log Bayes factor of
dependence that its known noise leaves, a set that was never asked counting as nothing. For PC
without privacy the third way is ``orientation="strongest"``, which asks all sets.

Run i reads sample FIRST + i of a network (bundled, or ``d x links`` random) with noise seed i. Runs
are kept in benchmarks/results/directions.jsonl, one cell per line, and a cell that is kept is not
run again; the last step writes the tables of research/directions.md, ``--tables`` does that alone.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.f1 import mean_and_error
from benchmarks.kept import keep, lines
from benchmarks.random_networks import random_dataset
from benchmarks.written import put
from engine import load_dataset, run
from engine.context import Step
from engine.data.dataset import Dataset
from engine.graphs.cpdag import Adjacency, SeparatingSets
from engine.graphs.metrics import compare
from engine.graphs.orientation import by_strength
from engine.graphs.weighed_colliders import (
    MOST_INDEPENDENCE,
    SHOWN,
    STRONGEST,
    Triple,
    orient,
    unshielded,
)
from engine.privacy.events import GaussianEvent, LaplaceEvent
from engine.result import RunResult

KEPT = Path(__file__).parent / "results" / "directions.jsonl"
PAGE = Path(__file__).resolve().parent.parent / "research" / "directions.md"
ROWS, FIRST, RUNS = 100_000, 6_000, 20
BUNDLED = ("cancer", "earthquake", "survey", "asia", "sachs", "child", "insurance")
RANDOM = ("8 x 10", "10 x 12", "12 x 18", "15 x 20")
NETWORKS = (*BUNDLED, *RANDOM)
PRIVATE = ("gauss_pc", "curate_pc", "priv_pc", "svt_pc", "em_pc")
VALUED = ("gauss_pc", "curate_pc", "priv_pc")  # all or some of their questions have a value
EPSILONS = (1.0, 10.0)
MOST_ORDER, FEW = 3, 12  # the largest order in networks of more than so many columns
HALF_A_SET = 0.1  # added to the sets with and without a node; one set alone has odds of 11 to 1

Weights = Mapping[Triple, float]
Tests = dict[tuple[int, int], list[tuple[float, tuple[int, ...]]]]
Runs = NDArray[np.float64]  # (runs, 4): skeleton F1, then directed F1 as it is, votes, values


class Cell(NamedTuple):
    """An algorithm, a network, an epsilon (0 without privacy), and a statistic."""

    algorithm: str
    network: str
    epsilon: float
    statistic: str


def grid() -> Iterator[Cell]:
    """All cells."""
    for network in NETWORKS:
        for statistic in ("kendall", "g2"):
            yield Cell("pc", network, 0.0, statistic)
        for key, epsilon in product(PRIVATE, EPSILONS):
            if not (key == "em_pc" and network in ("insurance",)):  # minutes per run
                yield Cell(key, network, epsilon, "kendall")


def sample(network: str, number: int) -> Dataset:
    """The rows of a run."""
    if network in RANDOM:
        d, links = map(int, network.split(" x "))
        return random_dataset(d, links, FIRST + number, ROWS)
    return load_dataset(network, n=ROWS, seed=FIRST + number)


# Weights --------------------------------------------------------------------------------------


def by_votes(skeleton: Adjacency, separating: SeparatingSets) -> Weights:
    """Log odds of a set that separated the pair being without the middle node."""
    found = {}
    for a, z, b in unshielded(skeleton):
        sets = separating.get(frozenset((a, b)), ())
        within = sum(z in s for s in sets)
        odds = (len(sets) - within + HALF_A_SET) / (within + HALF_A_SET)
        found[a, z, b] = math.log(odds)
    return found


def by_values(skeleton: Adjacency, tests: Tests) -> Weights:
    """Log ratio of the mean odds of independence of the asked sets without z to those with it."""
    found = {}
    for a, z, b in unshielded(skeleton):
        asked = tests.get((a, b), [])
        sides = [[v for v, s in asked if (z in s) is within] for within in (False, True)]
        without, within = (np.log(np.mean(np.exp(v))) if v else 0.0 for v in sides)
        found[a, z, b] = float(without - within)
    return found


def released(result: RunResult, n: int) -> Tests:
    """Return for each pair (log odds of independence, set) of the tests that released a value.

    A released z with noise of variance s has variance 1 + s under independence and 1 + s + n under
    dependence: Schwarz's odds, with z and n in units of the deviation from chance and noise.
    """
    at = {name: i for i, name in enumerate(result.names)}
    found: Tests = {}
    for step in result.steps:
        if step.x is None or step.y is None or step.value is None:
            continue
        z, variance = max(-step.value, 0.0), noise_variance(step)
        odds = (math.log(max(n / (1 + variance), 1.0)) - z**2 / (1 + variance)) / 2
        pair = min(at[step.x], at[step.y]), max(at[step.x], at[step.y])
        given = tuple(at[name] for name in step.conditioning_set)
        found.setdefault(pair, []).append((max(-1e2, min(odds, MOST_INDEPENDENCE)), given))
    return found


def noise_variance(step: Step) -> float:
    """Return the variance of the noise on a step's value, from its charge."""
    event = step.charges[-1].event
    if isinstance(event, LaplaceEvent):
        return 2 * event.scale**2
    assert isinstance(event, GaussianEvent)
    return event.sigma**2


# Runs -----------------------------------------------------------------------------------------


def one(cell: Cell, number: int) -> tuple[float, float, float, float]:
    """Skeleton F1, and directed F1 as the run is, by votes, and by values (NaN without any)."""
    data = sample(cell.network, number)
    values: dict[str, Any] = {"statistic": cell.statistic}
    if data.d > FEW:
        values["max_order"] = MOST_ORDER
    if cell.algorithm != "pc":
        values["epsilon"] = cell.epsilon
    result = run(cell.algorithm, data, seed=number, **values)
    assert result.metrics_all is not None
    skeleton, truth = result.matrix | result.matrix.T, result.reference_cpdag

    def turned(weights: Weights) -> float:
        shown = by_strength(skeleton, orient(skeleton, weights).arrows, None, SHOWN).matrix
        return compare(shown, truth).directed_f1

    last = math.nan
    if cell.algorithm == "pc":  # its own way to weigh, which asks all sets
        asked = run("pc", data, trace=False, **values, orientation=STRONGEST).metrics_all
        assert asked is not None
        last = asked.directed_f1
    elif cell.algorithm in VALUED:
        last = turned(by_values(skeleton, released(result, data.n)))
    votes = turned(by_votes(skeleton, result.separating))
    return result.metrics_all.skeleton_f1, result.metrics_all.directed_f1, votes, last


def measure(cell: Cell) -> None:
    """Run a cell and keep it."""
    start = time.process_time()
    rows = [[round(v, 4) for v in one(cell, i)] for i in range(RUNS)]
    runs = [[None if math.isnan(v) else v for v in row] for row in rows]
    keep(KEPT, {"cell": cell, "runs": runs})
    print(*cell, np.mean(rows, axis=0).round(3), f"{time.process_time() - start:.1f} s", flush=True)


def kept() -> dict[Cell, Runs]:
    """The cells that were run."""
    return {Cell(*line["cell"]): np.array(line["runs"], dtype=float) for line in lines(KEPT)}


# Tables ---------------------------------------------------------------------------------------


def change(runs: Runs, way: int) -> str:
    """The mean change of directed F1 by a way of weighing, with its error; a dash for none."""
    moved = runs[:, way] - runs[:, 1]
    return "–" if np.isnan(moved).any() else mean_and_error(moved, "+")


def line(head: Sequence[str], cells: Sequence[Cell], found: Mapping[Cell, Runs]) -> str:
    """Directed F1 as the run is, and its changes, of each cell."""
    texts = []
    for cell in cells:
        runs = found.get(cell)
        some = "–" if runs is None else mean_and_error(runs[:, 1]).split(" ± ")[0]
        texts.append(some if runs is None else f"{some}; {change(runs, 2)} / {change(runs, 3)}")
    return "| " + " | ".join((*head, *texts)) + " |"


def noisy(found: Mapping[Cell, Runs]) -> str:
    """The private algorithms: as the run is; change by votes / by values."""
    lines = ["| | ε | " + " | ".join(PRIVATE) + " |", "|---" * (2 + len(PRIVATE)) + "|"]
    for network, epsilon in product(NETWORKS, EPSILONS):
        cells = [Cell(key, network, epsilon, "kendall") for key in PRIVATE]
        if any(cell in found for cell in cells):
            lines.append(line((network.capitalize(), f"{epsilon:g}"), cells, found))
    return "\n".join(lines)


def clear(found: Mapping[Cell, Runs]) -> str:
    """PC without privacy: as it is by default; change by votes / by all sets."""
    lines = ["| | Kendall | G² |", "|---" * 3 + "|"]
    for network in NETWORKS:
        cells = [Cell("pc", network, 0.0, statistic) for statistic in ("kendall", "g2")]
        if any(cell in found for cell in cells):
            lines.append(line((network.capitalize(),), cells, found))
    return "\n".join(lines)


def main() -> None:
    """Run the missing cells, then write the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", action="store_true")
    options = parser.parse_args()
    done = kept()
    for cell in () if options.tables else grid():
        if cell not in done:
            measure(cell)
    put(PAGE, "benchmarks.directions", noisy(kept()))
    put(PAGE, "benchmarks.directions pc", clear(kept()))


if __name__ == "__main__":
    main()
