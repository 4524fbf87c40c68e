"""Rare columns and tests by blocks: ``python -m benchmarks.rare``.

Two tables of the private algorithms that test G² and χ² block by block, before and after one rule:
a block in which a column is constant shows no dependence; it counted as dependent before.

1. False positives on five independent binary columns, of the same prevalence each, by draw.
2. Skeleton and directed F1 on the seven networks, by sample and noise seed.

The command measures both (about ten minutes) and writes them into
research/theory/privacy_proofs.md. ``--grid`` prints the false positives without noise of all
algorithms, statistics and guarantees, over prevalences from .001 to .5, next to the tests' rates.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations_with_replacement, product
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from numpy.typing import NDArray

from benchmarks.directions import BUNDLED
from benchmarks.written import put
from engine import ALGORITHMS, Dataset, InputError, load_dataset, run
from engine.statistics.base import Statistic
from engine.statistics.oracle import ORACLE
from engine.statistics.registry import AGGREGATED, STATISTICS
from engine.studies.detectability import Shape
from engine.studies.repeat import invented

DOC = Path(__file__).resolve().parent.parent / "research" / "theory" / "privacy_proofs.md"
BY_BLOCKS = ("priv_pc", "svt_pc", "gauss_pc", "curate_pc")
COLUMNS, EPSILON, HUGE = 5, 10.0, 1e7
ROWS, FIRST = 100_000, 2_000
CASES = ((2_000, 0.02), (20_000, 0.001), (100_000, 0.001))  # rows, prevalence
PREVALENCES = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
FALSE, F1 = "benchmarks.rare false", "benchmarks.rare f1"


def before(*_: object) -> NDArray[np.float64]:
    """In the place of Statistic.untested: no block allows a conclusion."""
    return np.array([np.nan])


def both(measure: Callable[..., str], *given: Any) -> str:
    """Return the measurements before the rule, and now."""
    with mock.patch.object(Statistic, "untested", before):
        old = measure(*given)
    return f"{old} → {measure(*given)}"


def false(key: str, case: tuple[int, float], values: dict[str, Any], draws: int) -> str:
    """Mean number of false positives on independent columns of one prevalence."""
    rows, prevalence = case
    shape = Shape((2,) * COLUMNS, rows)
    found = invented(key, shape, values, draws=draws, margins=(prevalence,))
    assert found is not None
    return f"{found.mean:.1f}"


def of_rare_columns(draws: int) -> Iterator[str]:
    """The first table, line by line."""
    yield f"| rows, prevalence, test | pc | {' | '.join(BY_BLOCKS)} |"
    yield "|---" * (len(BY_BLOCKS) + 2) + "|"
    for case, test in product(CASES, AGGREGATED):
        values = {"statistic": test, "epsilon": EPSILON}
        cells = [false("pc", case, {"statistic": test}, draws)]
        cells += [both(false, key, case, values, draws) for key in BY_BLOCKS]
        named = f"{case[0]:,}, {case[1]:g}, {STATISTICS[test].label}"
        yield f"| {named} | {' | '.join(cells)} |"


def f1(key: str, test: str, samples: Sequence[Dataset]) -> str:
    """Mean skeleton and directed F1 over samples, each with other noise."""
    found = []
    for seed, data in enumerate(samples):
        result = run(key, data, statistic=test, epsilon=EPSILON, seed=seed, trace=False)
        assert result.counts is not None
        found.append((result.counts.scores.skeleton_f1, result.counts.scores.directed_f1))
    return " ".join(f"{mean:.2f}" for mean in np.mean(found, axis=0))


def of_networks(draws: int) -> Iterator[str]:
    """The second table, line by line."""
    yield f"| network, test | {' | '.join(BY_BLOCKS)} |"
    yield "|---" * (len(BY_BLOCKS) + 1) + "|"
    for network in BUNDLED:
        samples = [load_dataset(network, n=ROWS, seed=FIRST + i) for i in range(draws)]
        for test in AGGREGATED:
            cells = [both(f1, key, test, samples) for key in BY_BLOCKS]
            yield f"| {network}, {STATISTICS[test].label} | {' | '.join(cells)} |"


def grid(draws: int) -> Iterator[str]:
    """The tests' rates; then false positives without noise, in ten pairs, by prevalence."""
    for test, rows in product(AGGREGATED, (1_000, 20_000, 100_000)):
        label = STATISTICS[test].label
        yield f"{label}, {rows:,} rows: dependent are {rate(test, rows):.3f} of independent pairs"
    yield " ".join(map(str, ("algorithm, its form, rows:", *PREVALENCES)))
    for key, values in forms():
        for rows in (2_000, 20_000):
            means = [false(key, (rows, p), values, draws) for p in PREVALENCES]
            yield f"{' '.join([key, *map(str, values.values())])} {rows:,}: {' '.join(means)}"


def forms() -> Iterator[tuple[str, dict[str, Any]]]:
    """Each algorithm of graphs with every guarantee and statistic it has, without noise."""
    for key, one in ALGORITHMS.items():
        if one.columns is not None or one.chooses:
            continue
        choices = {s.name: s.choices for s in one.params.specs()}.get("statistic") or ()
        tests = [{"statistic": c} for c in choices if c != ORACLE.key]
        budgets = [{"guarantee": g, "epsilon": HUGE} for g in one.guarantees]
        for budget, test in product(budgets or [{}], tests or [{}]):
            values: dict[str, Any] = {**budget, **test}
            try:
                one.params.build(values)
            except InputError:  # a form that it does not have
                continue
            yield key, values


def rate(test: str, rows: int, tables: int = 4_000) -> float:
    """The largest share of tables of two independent columns that the test calls dependent."""
    rng, statistic = np.random.default_rng(0), STATISTICS[test]
    shares = []
    for a, b in combinations_with_replacement(PREVALENCES, 2):
        cells = np.outer([1 - a, a], [1 - b, b]).ravel()
        drawn = rng.multinomial(rows, cells, tables).reshape(tables, 2, 2)
        p = statistic.block_p_values(drawn, np.arange(tables), tables)
        shares.append(float(np.mean(p <= statistic.threshold)))
    return max(shares)


def main() -> None:
    """Measure and write both tables, or print the grid."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--grid", action="store_true")
    options = parser.parse_args()
    if options.grid:
        for line in grid(options.draws):
            print(line, flush=True)
        return
    put(DOC, FALSE, "\n".join(of_rare_columns(2 * options.draws)))
    put(DOC, F1, "\n".join(of_networks(options.draws)))


if __name__ == "__main__":
    main()
