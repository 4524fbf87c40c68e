"""Coverage of effects' intervals, and combined releases: ``-m benchmarks.effects``.

Effects: every draw is a new sample, a release of it by Marginal PC, and the effects of ordered
pairs of columns, over plausible graphs and with the true DAG given; also of four wards combined.
Combined releases: one sample of 100,000 rows, released whole and dealt out to 4 or 8 hospitals, or
to hospitals of different epsilon, size or population. Each draw is kept as a line of
``benchmarks/results/effects.jsonl``; a kept draw is not run again, and ``--seconds`` of CPU end a
run between two draws. The last step writes the tables into research/effects.md; ``--tables`` does
that alone.
"""

from __future__ import annotations

import argparse
import math
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks.kept import keep, lines
from benchmarks.random_networks import random_network
from benchmarks.written import put
from engine import Dataset, RunResult, run
from engine.algorithm import Outcome
from engine.algorithms.marginal_pc import MarginalPCParameters, conclude, known_whole
from engine.context import RunContext
from engine.data.networks import Network, load_network
from engine.effects.effect import Effect, effect_of
from engine.effects.plausible import Plausible, plausible
from engine.effects.truth import joint
from engine.graphs.cpdag import matrix_of
from engine.graphs.known import truth_cpdag
from engine.graphs.metrics import compare
from engine.graphs.orientation import reachable
from engine.marginals.citest import NoisyTests
from engine.marginals.diagnostics import MarginalDiagnostics
from engine.marginals.levels import merged
from engine.privacy.ledger import Ledger
from engine.randomness import Randomness
from engine.release import pooling
from engine.runner import one_thread

KEPT = Path(__file__).parent / "results" / "effects.jsonl"
DOC = Path(__file__).resolve().parent.parent / "research" / "effects.md"
FIRST, DELTA, PAIRS = 52_000, 1e-6, 40  # seed; pairs of a draw, where a network has more
# Name -> rows, epsilons, draws. Titanic-like: sexes, ages, classes and survival as in R's table.
CELLS: dict[str, tuple[int, tuple[float, ...], int]] = {
    "random 4–6 columns": (2_000, (0.3, 1.0, 3.0), 400),
    "Titanic-like": (2_201, (1.0, 3.0), 120),
    "asia": (2_000, (1.0, 3.0), 100),
    "survey": (2_000, (3.0,), 100),
    "child": (2_000, (3.0,), 20),
}
POOLED = (("child", 20), ("insurance", 20), ("alarm", 20))
ROWS, HOSPITALS = 100_000, (4, 8)
# Alarm in four hospitals: the epsilon of each, its share of the rows, and how far every table of
# its network is tilted: p exp(tilt N(0, 1)).
UNEQUAL = {
    "alike": ((1.0,) * 4, (0.25,) * 4, 0.0),
    "ε of 3, 1, .3, .1": ((3.0, 1.0, 0.3, 0.1), (0.25,) * 4, 0.0),
    "n of 70, 15, 10, 5 %": ((1.0,) * 4, (0.7, 0.15, 0.1, 0.05), 0.0),
    "every table tilted": ((1.0,) * 4, (0.25,) * 4, 0.5),
}
WARDS = (("survey", 100), ("asia", 100))  # four of 5,000 rows each, at epsilon 1
# R's Titanic: survived of all, by class (1st, 2nd, 3rd, crew), sex (m, f) and age (child, adult).
_ALL = [[[5, 175], [1, 144]], [[11, 168], [13, 93]], [[48, 462], [31, 165]], [[0, 862], [0, 23]]]
_LIVED = [[[5, 57], [1, 140]], [[11, 14], [13, 80]], [[13, 75], [14, 76]], [[0, 192], [0, 20]]]


def titanic() -> Network:
    """Sex and age cause class, and all three survival, with the frequencies of R's table."""
    every, lived = np.array(_ALL, float), np.array(_LIVED, float)
    by_class = (every.transpose(1, 2, 0) + 0.5).reshape(4, 4)
    lives = ((lived + 0.5) / (every + 1)).ravel()
    return Network(
        name="titanic", names=("class", "sex", "age", "survived"),
        states=(("1st", "2nd", "3rd", "crew"), ("male", "female"), ("child", "adult"),
                ("no", "yes")),
        parents=(("sex", "age"), (), (), ("class", "sex", "age")),
        tables=(by_class / by_class.sum(1, keepdims=True),
                every.sum((0, 2))[None] / every.sum(), every.sum((0, 1))[None] / every.sum(),
                np.stack([1 - lives, lives], axis=1)),
        source="R, datasets::Titanic", licence="",
    )  # fmt: skip


def network_of(name: str, seed: int) -> Network:
    """The network of a cell; a random one is another in every draw."""
    if name == "Titanic-like":
        return titanic()
    if name in CELLS and name.startswith("random"):
        d = 4 + seed % 3
        return random_network(d, round(1.2 * d), seed)
    return load_network(name)


def rows_of(network: Network, n: int, seed: int) -> Dataset:
    """A sample as public data."""
    codes = network.sample(n, np.random.default_rng([seed, n]))
    found = Dataset.from_codes(codes, network.names, network.states, truth=network.dag(),
                               public=True)  # fmt: skip
    return merged(found)


def released(data: Dataset, epsilon: float, seed: int) -> RunResult:
    """A run of Marginal PC."""
    return run("marginal_pc", data, epsilon=epsilon, delta=DELTA, seed=seed)


# Effects --------------------------------------------------------------------------------


def effects_of(name: str, n: int, epsilon: float, seed: int) -> dict[str, Any]:
    """The counts of one draw."""
    network = network_of(name, seed)
    data = rows_of(network, n, seed)
    result = released(data, epsilon, seed)
    found = result.diagnostics
    assert isinstance(found, MarginalDiagnostics)
    assert data.truth is not None
    truth = matrix_of(data.truth, data.names)
    given, ways = Plausible((truth,), np.ones(1)), reachable(truth)
    counts: dict[str, list[float]] = {"averaged": [0] * 5, "given": [0] * 5, "bins": [0] * 30}
    counts["brier"] = [0, 0]
    for x, y in asked_pairs(data.d, seed):
        cause, effect = data.names[x], data.names[y]
        one = result.effect(cause, effect)
        if one.acts is not None:
            place = min(int(10 * one.acts), 9)
            for j, value in enumerate((1, one.acts, ways[x, y])):
                counts["bins"][3 * place + j] += float(value)
            counts["brier"][0] += 1
            counts["brier"][1] += (one.acts - ways[x, y]) ** 2
        if ways[x, y]:
            real = _truth(network, data, one)
            two = effect_of(found.released, data.names, data.levels, given, cause, effect)  # type: ignore[arg-type]
            _count(counts["averaged"], one, real)
            _count(counts["given"], two, real)
    return counts


def asked_pairs(d: int, seed: int) -> list[tuple[int, int]]:
    """Up to PAIRS ordered pairs of columns."""
    pairs = list(permutations(range(d), 2))
    chosen = np.random.default_rng(seed).permutation(len(pairs))[:PAIRS]
    return [pairs[k] for k in chosen.tolist()]


def wards_of(name: str, n: int, epsilon: float, seed: int) -> dict[str, Any]:
    """The counts of true cause -> effect pairs by four wards' releases as one, and by the first."""
    network = network_of(name, seed)
    data = rows_of(network, n, seed)
    assert data.truth is not None
    wards = np.array_split(np.random.default_rng(seed).permutation(n), 4)
    parts = [released(_part(data, w), epsilon, 100 * seed + h) for h, w in enumerate(wards)]
    outcome = search_on(data, [part.diagnostics for part in parts], epsilon)
    counts: dict[str, list[float]] = {"four": [0] * 5, "one": [0] * 5}
    ways, both = reachable(matrix_of(data.truth, data.names)), outcome.diagnostics
    assert isinstance(both, MarginalDiagnostics)
    assert both.released is not None
    dags = plausible(both, outcome.matrix, None)
    for x, y in asked_pairs(data.d, seed):
        if ways[x, y]:
            cause, effect = data.names[x], data.names[y]
            four = effect_of(both.released, data.names, data.levels, dags, cause, effect)
            _count(counts["four"], four, real := _truth(network, data, four))
            _count(counts["one"], parts[0].effect(cause, effect), real)
    return counts


def _truth(network: Network, data: Dataset, found: Effect) -> float:
    x, y = (data.names.index(name) for name in (found.cause, found.outcome))
    p = joint(network, (x, y), cut=(x,))
    p = p / p.sum(axis=1, keepdims=True)
    event = data.levels[y].index(found.event)
    high, low = (p[data.levels[x].index(at), event] for at in (found.level, found.reference))
    return float(high - low)


def _count(sums: list[float], found: Effect, real: float) -> None:
    """Asked, in every graph reversed, refused else, holds, width."""
    stated = found.difference
    sums[0] += 1
    if stated is None:
        sums[1 if str(found.refusal).startswith("In every plausible graph") else 2] += 1
    else:
        sums[3] += stated.low - 1e-12 <= real <= stated.high + 1e-12
        sums[4] += stated.width


# Combined releases ----------------------------------------------------------------------


def pooled_of(name: str, epsilon: float, seed: int) -> dict[str, list[float]]:
    """Skeleton and directed F1 of one draw: one release, and of k hospitals sum, best and vote."""
    data = rows_of(load_network(name), ROWS, seed)
    assert data.truth is not None
    truth = truth_cpdag(data.truth, data.names)

    def scores(graph: np.ndarray) -> list[float]:
        found = compare(graph, truth)
        return [found.skeleton_f1 or 0.0, found.directed_f1 or 0.0]

    out = {"one": scores(released(data, epsilon, seed).matrix)}
    for k in HOSPITALS:
        wards = np.array_split(np.random.default_rng(seed).permutation(ROWS), k)
        parts = [released(_part(data, ward), epsilon, 100 * seed + h)
                 for h, ward in enumerate(wards)]  # fmt: skip
        each = [scores(part.matrix) for part in parts]
        summed = search_on(data, [part.diagnostics for part in parts], epsilon)
        out |= {f"summed {k}": scores(summed.matrix), f"best {k}": np.max(each, axis=0).tolist()}
        out[f"vote {k}"] = scores(_vote([part.matrix for part in parts]))
    return out


def unequal_of(case: str, n: int, seed: int) -> dict[str, Any]:
    """Skeleton F1, precision: weighted, added up, the best alone; and how far the columns drift."""
    epsilons, shares, tilt = UNEQUAL[case]
    network, rng = load_network("alarm"), np.random.default_rng(seed)
    parts, truth = [], truth_cpdag(network.dag(), network.names)
    for h, (epsilon, share) in enumerate(zip(epsilons, shares, strict=True)):
        tables = [t * np.exp(tilt * rng.standard_normal(t.shape)) for t in network.tables]
        here = replace(network, tables=tuple(t / t.sum(1, keepdims=True) for t in tables))
        data = rows_of(here, round(share * n), 100 * seed + h)
        parts.append(released(data, epsilon, 100 * seed + h))

    def scores(graph: np.ndarray) -> list[float]:
        found = compare(graph, truth)
        return [found.skeleton_f1 or 0.0, found.precision or 0.0]

    diagnostics: list[Any] = [part.diagnostics for part in parts]
    out: dict[str, Any] = {"weighted": scores(search_on(data, diagnostics, max(epsilons)).matrix)}
    added = [d.released.n / n for d in diagnostics]
    with patch.object(pooling, "weights", lambda _: np.array(added)):
        out["added up"] = scores(search_on(data, diagnostics, max(epsilons)).matrix)
    out["the first alone"] = scores(parts[0].matrix)
    return out | {"drift": pooling.drift([d.released for d in diagnostics])[0]}


def _part(data: Dataset, rows: np.ndarray) -> Dataset:
    return Dataset.from_codes(
        data.codes[rows], data.names, data.levels, truth=data.truth, public=True
    )


def search_on(data: Dataset, parts: Sequence[Any], epsilon: float) -> Outcome:
    """Return the result from the releases of all hospitals, as :func:`engine.combine` has it."""
    moments = pooling.pooled([part.released for part in parts])
    params = MarginalPCParameters.build({"epsilon": epsilon, "delta": DELTA})
    context = RunContext(Randomness(0), Ledger(), data.names, trace=False)
    tests = NoisyTests(moments, leaks=False, whole=bool(moments.higher))
    n = round(ROWS / len(parts))
    with one_thread():
        whole = known_whole(data.cardinalities, n, params.total)
        return conclude(data, tests, params, context, whole)


def _vote(graphs: Sequence[np.ndarray]) -> np.ndarray:
    """Links and arrows of more than half of the graphs."""
    all_, half = np.array(graphs), len(graphs) / 2
    link = (all_ | all_.transpose(0, 2, 1)).sum(axis=0) > half
    arrow = (all_ & ~all_.transpose(0, 2, 1)).sum(axis=0) > half
    out: np.ndarray = link & ~arrow.T
    return out


# Running and writing --------------------------------------------------------------------


def wanted() -> list[dict[str, Any]]:
    """Every draw of every cell, in turns, so that cells grow alike."""
    cells = [("effects", name, n, epsilon, draws)
             for name, (n, epsilons, draws) in CELLS.items() for epsilon in epsilons]  # fmt: skip
    cells += [("wards", name, 20_000, 1.0, draws) for name, draws in WARDS]
    cells += [("unequal", name, ROWS, 1.0, 20) for name in UNEQUAL]
    cells += [("combined", name, ROWS, e, draws) for name, draws in POOLED for e in (0.1, 1.0)]
    found = [
        {"kind": kind, "name": name, "n": n, "epsilon": epsilon, "seed": FIRST + k}
        for kind, name, n, epsilon, draws in cells for k in range(draws)
    ]  # fmt: skip
    return sorted(found, key=lambda one: (list(RUN).index(one["kind"]), one["seed"]))


def ratio(parts: Sequence[tuple[float, float]]) -> str:
    """A ratio of sums over draws, and its standard error (draws are independent)."""
    top, low = np.array(parts, float).T
    if not low.sum():
        return "–"
    share = top.sum() / low.sum()
    error = math.sqrt(float(np.sum((top - share * low) ** 2))) / low.sum()
    return f"{share:.3f} ± {error:.3f}"


def effects_table(kept: Sequence[Any]) -> str:
    """One row a cell, and one for the probabilities."""
    found = [
        "| true cause → effect pairs | ε | draws | refused: reverse | holds the truth | refused: "
        "too wide | true graph given: holds | too wide |",
        "|---|---|---|---|---|---|---|---|",
    ]
    cells = defaultdict(list)
    for one in kept:
        cells[one["name"], one["n"], one["epsilon"]].append(one["found"])
    for (name, n, epsilon), draws in cells.items():
        columns = []
        for which in ("averaged", "given"):
            sums = [draw[which] for draw in draws]
            if which == "averaged":
                columns.append(ratio([(s[1], s[0]) for s in sums]))
            columns.append(ratio([(s[3], s[0] - s[1] - s[2]) for s in sums]))
            columns.append(ratio([(s[2], s[0]) for s in sums]))
        found.append(f"| {name}, n = {n:,} | {epsilon:g} | {len(draws)} | {' | '.join(columns)} |")
    brier = ratio([(one["found"]["brier"][1], one["found"]["brier"][0]) for one in kept])
    bins = np.sum([one["found"]["bins"] for one in kept], axis=0).reshape(10, 3)
    apart = float(np.abs(bins[:, 1] - bins[:, 2]).sum() / bins[:, 0].sum())
    stated = f"Brier score {brier}, calibration error {apart:.3f} (ten bins)."
    return "\n".join([*found, "", f"P(acts) over all joined pairs: {stated}"])


def combined_table(kept: Sequence[Any]) -> str:
    """One row a network and epsilon: skeleton / directed F1 with the largest error of a row."""
    heads = ["one", *(f"{word} {k}" for k in HOSPITALS for word in ("summed", "best", "vote"))]
    found = [
        f"| n = {ROWS:,} in all | ε | draws | {' | '.join(heads)} | errors ≤ |",
        "|---" * (len(heads) + 4) + "|",
    ]
    cells = defaultdict(list)
    for one in kept:
        cells[one["name"], one["epsilon"]].append(one["found"])
    for (name, epsilon), draws in sorted(cells.items()):
        values = np.array([[draw[head] for head in heads] for draw in draws])
        means = values.mean(axis=0)
        errors = values.std(axis=0, ddof=1) / math.sqrt(len(draws)) if len(draws) > 1 else means
        pairs = " | ".join(f"{a:.2f}/{b:.2f}" for a, b in means)
        most = "/".join(f"{e:.2f}" for e in errors.max(axis=0))
        found.append(f"| {name} | {epsilon:g} | {len(draws)} | {pairs} | {most} |")
    return "\n".join(found)


def wards_table(kept: Sequence[Any]) -> str:
    """One row a network: four wards as one, and the first of them alone."""
    found = ["| four wards of 5,000, ε = 1 | draws | as one: holds | width | refused | one ward: "
             "holds | width | refused |", "|---" * 8 + "|"]  # fmt: skip
    for name in dict(WARDS):
        draws = [one["found"] for one in kept if one["name"] == name]
        cells = []
        for which in ("four", "one"):
            counts = [(s[0], s[0] - s[1] - s[2], *s[3:]) for s in (draw[which] for draw in draws)]
            cells += [ratio([(t[2], t[1]) for t in counts]), ratio([(t[3], t[1]) for t in counts])]
            cells.append(ratio([(t[0] - t[1], t[0]) for t in counts]))
        found.append(f"| {name} | {len(draws)} | {' | '.join(cells)} |")
    return "\n".join(found)


def unequal_table(kept: Sequence[Any]) -> str:
    """One row a case: skeleton F1 and precision, and the drift of the columns."""
    heads = ("weighted", "added up", "the first alone")
    found = [f"| Alarm, four hospitals, n = {ROWS:,} in all | draws | {' | '.join(heads)} | drift "
             "(least to most) |", "|---" * (len(heads) + 3) + "|"]  # fmt: skip
    for case in UNEQUAL:
        draws = [one["found"] for one in kept if one["name"] == case]
        values = np.array([[draw[head] for head in heads] for draw in draws])
        error = values.std(axis=0, ddof=1) / math.sqrt(len(draws))
        pairs = [f"{m[0]:.3f} ± {e[0]:.3f} (precision {m[1]:.2f})"
                 for m, e in zip(values.mean(axis=0), error, strict=True)]  # fmt: skip
        drifts = sorted(draw["drift"] for draw in draws)
        drift = f"{drifts[0]:.1f} to {drifts[-1]:.1f}"
        found.append(f"| {case} | {len(draws)} | {' | '.join(pairs)} | {drift} |")
    return "\n".join(found)


# Kind -> one draw of it, by name, rows, epsilon and seed; its table.
RUN: dict[str, tuple[Callable[[str, int, float, int], Any], Callable[[Sequence[Any]], str]]] = {
    "effects": (effects_of, effects_table),
    "wards": (wards_of, wards_table),
    "unequal": (lambda name, n, _, seed: unequal_of(name, n, seed), unequal_table),
    "combined": (lambda name, _, epsilon, seed: pooled_of(name, epsilon, seed), combined_table),
}


def main() -> None:
    """Run the missing draws, then write the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600.0, help="of CPU")
    parser.add_argument("--kind", default=",".join(RUN))
    parser.add_argument("--tables", action="store_true")
    options = parser.parse_args()
    KEPT.parent.mkdir(exist_ok=True)
    done = lines(KEPT)
    there = {tuple(v for k, v in one.items() if k != "found") for one in done}
    for one in wanted() if not options.tables else ():
        if one["kind"] in options.kind.split(",") and tuple(one.values()) not in there:
            if time.process_time() > options.seconds:
                break
            found = RUN[one["kind"]][0](*list(one.values())[1:])
            keep(KEPT, one | {"found": found})
    for kind, (_, write) in RUN.items():
        put(DOC, f"benchmarks.effects {kind}", write([o for o in lines(KEPT) if o["kind"] == kind]))


if __name__ == "__main__":
    main()
