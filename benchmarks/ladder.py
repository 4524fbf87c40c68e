"""Answers by the ladder of estimates, and how sure a direction is: ``python -m benchmarks.ladder``.

The first table takes eight kinds of tables: with rare levels, many columns, many rows, or few rows.
Each draw is a network, a sample and a release; the effects of its true cause -> outcome pairs
are estimated twice, by the first rung of the ladder alone and by all rungs. The second table
compares the probability that a cause acts with its frequency, with all columns and with three
hidden. Draws are kept in ``benchmarks/results``; ``--seconds`` of CPU end a run between two draws.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from benchmarks.effects import DELTA, DOC, ratio, rows_of
from benchmarks.kept import keep, lines
from benchmarks.random_networks import random_network
from benchmarks.written import put
from engine import Dataset, RunResult, run
from engine.data.networks import Network
from engine.effects import effect as effects
from engine.effects.adjustment import OPTIMAL
from engine.effects.effect import Effect
from engine.effects.estimate import Contrast, Estimate, Set
from engine.effects.plausible import plausible
from engine.effects.truth import joint
from engine.graphs.cpdag import matrix_of
from engine.graphs.orientation import reachable
from engine.marginals.moments import Moments

KEPT = Path(__file__).parent / "results" / "ladder.jsonl"
FIRST, EPSILON, PAIRS, HIDDEN = 95_000, 1.0, 12, "hidden"
# Name -> columns, levels of each, share of the last level (0: as drawn), rows.
TABLES: dict[str, tuple[int, int, float, int]] = {
    "rare levels, few rows": (7, 3, 0.01, 2_000),
    "rare levels": (7, 4, 0.003, 20_000),
    "many columns, few rows": (20, 2, 0.0, 5_000),
    "many columns": (20, 3, 0.0, 20_000),
    "many rows, many levels": (8, 10, 0.0, 300_000),
    "many rows": (10, 4, 0.0, 300_000),
    "few rows": (5, 3, 0.0, 500),
    "few rows, two levels": (6, 2, 0.0, 1_000),
}
BINS = (0.0, 0.5, 0.8, 0.95, 0.99)


def network_of(d: int, levels: int, rare: float, seed: int) -> Network:
    """Return a random graph whose columns all have so many levels, the last one rare."""
    graph, rng = random_network(d, round(1.3 * d), seed), np.random.default_rng([seed, levels])
    tables = []
    for parents in graph.parents:
        drawn = rng.dirichlet(np.full(levels, 1.5), levels ** len(parents))
        if rare:
            rest = drawn[:, :-1] / drawn[:, :-1].sum(axis=1, keepdims=True)
            drawn = np.column_stack([(1 - rare) * rest, np.full(len(rest), rare)])
        tables.append(drawn)
    states = (tuple(map(str, range(levels))),) * d
    return replace(graph, states=states, tables=tuple(tables))


def first_rung(moments: Moments, asked: Contrast, best: Set, parents: Set) -> Iterator[Estimate]:
    """Yield the estimate of a set as it is, if it has one."""
    every = all_rungs(moments, asked, best, parents)
    yield from (each for each in every if each.adjusted == best and not each.folded)


all_rungs = effects._ladder


def answers(name: str, seed: int) -> dict[str, Any]:
    """Release one draw; count refusals and intervals that hold, by the first rung and by all."""
    d, levels, rare, n = TABLES[name]
    network = network_of(d, levels, rare, seed)
    data = rows_of(network, n, seed)
    result = run("marginal_pc", data, epsilon=EPSILON, delta=DELTA, seed=seed)
    ways = reachable(matrix_of(network.dag(), network.names))
    pairs = np.argwhere(ways)
    pairs = pairs[np.random.default_rng([seed, 2]).permutation(len(pairs))[:PAIRS]]
    found: dict[str, list[int]] = {}
    for word, ladder in (("first", first_rung), ("all", all_rungs)):
        asked = answered = held = 0
        with mock.patch.object(effects, "_ladder", ladder):
            for x, y in pairs.tolist():
                moved = _effect(result, network, x, y)
                asked, answered = asked + 1, answered + (moved.difference is not None)
                held += moved.difference is not None and _holds(moved, network)
        found[word] = [asked, answered, held]
    return found


def _effect(result: RunResult, network: Network, x: int, y: int) -> Effect:
    first, second = network.states[x][:2]
    return result.effect(network.names[x], network.names[y], cause_level=second, reference=first,
                         outcome_level=network.states[y][0])  # fmt: skip


def _holds(found: Effect, network: Network) -> bool:
    x, y = found.asked.cause, found.asked.outcome
    p = joint(network, (x, y), cut=(x,))
    means = p @ found.asked.values / p.sum(axis=1)
    truth = means[found.asked.level] - means[found.asked.reference]
    assert found.difference is not None
    return bool(found.difference.low - 1e-9 <= truth <= found.difference.high + 1e-9)


def directions(hidden: int, seed: int) -> dict[str, Any]:
    """Release one draw without some of its columns; compare each joined pair with the truth."""
    network = random_network(8 + hidden, round(1.2 * (8 + hidden)), seed)
    data = rows_of(network, 20_000, seed)
    seen = np.sort(np.random.default_rng([seed, 3]).permutation(data.d)[hidden:])
    ways = reachable(matrix_of(network.dag(), network.names))[np.ix_(seen, seen)]
    names, levels = [data.names[k] for k in seen], [data.levels[k] for k in seen]
    part = Dataset.from_codes(data.codes[:, seen], names, levels, public=True)
    result = run("marginal_pc", part, epsilon=EPSILON, delta=DELTA, seed=seed)
    found: Any = result.diagnostics
    dags = plausible(found, result.matrix, result.known)
    counts = np.zeros((len(BINS), 3))
    for x, y in np.argwhere(~np.eye(len(seen), dtype=bool)).tolist():
        acts = effects.weighed(dags, x, y, OPTIMAL)[0] if dags.dags else None
        if acts is not None:
            place = int(np.searchsorted(BINS, acts, side="right")) - 1
            counts[place] += (1, acts, ways[x, y])
    return {"bins": counts.tolist()}


def ladder_table(kept: Sequence[dict[str, Any]]) -> str:
    """One row per kind of table: refused and holding, by the first rung and by the ladder."""
    draws = defaultdict(list)
    for each in kept:
        draws[each["name"]].append(each["found"])
    out = ["| table | columns × levels | n | draws | refused: first rung → ladder |"
           " holds: first rung → ladder |", "|---" * 6 + "|"]  # fmt: skip
    for name, (d, levels, _, n) in TABLES.items():
        told = [[np.array(one[word]) for word in ("first", "all")] for one in draws[name]]
        refused = " → ".join(ratio([(o[k][0] - o[k][1], o[k][0]) for o in told]) for k in (0, 1))
        holds = " → ".join(ratio([(o[k][2], o[k][1]) for o in told]) for k in (0, 1))
        out.append(f"| {name} | {d} × {levels} | {n:,} | {len(told)} | {refused} | {holds} |")
    return "\n".join(out)


def acts_table(kept: Sequence[dict[str, Any]]) -> str:
    """One row per range of reported probabilities: their mean, and the frequency."""
    cells = defaultdict(list)
    for each in kept:
        cells[each["name"]].append(np.array(each["found"]["bins"]))
    heads = [f"{name.split()[-1]} hidden: reported; true" for name in sorted(cells)]
    out = [f"| reported probability | {' | '.join(heads)} |", "|---" * (1 + len(heads)) + "|"]
    for k, low in enumerate(BINS):
        row = []
        for name in sorted(cells):
            draws = [one[k] for one in cells[name]]
            of, told, _ = np.sum(draws, axis=0)
            true = ratio([(one[2], one[0]) for one in draws])
            row.append(f"{told / max(of, 1):.3f}; {true} ({of:.0f} pairs)")
        high = f"to {BINS[k + 1]:g}" if k + 1 < len(BINS) else "to 1"
        out.append(f"| {low:g} {high} | {' | '.join(row)} |")
    return "\n".join(out)


def main() -> None:
    """Run the missing draws, then write the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=300.0, help="of CPU")
    options = parser.parse_args()
    there = {(each["name"], each["seed"]) for each in lines(KEPT)}
    cells = [*TABLES, f"{HIDDEN} 0", f"{HIDDEN} 3"]
    for seed in range(FIRST, FIRST + 40):
        for name in cells:
            if (name, seed) not in there and time.process_time() < options.seconds:
                hidden = int(name.split()[-1]) if name.startswith(HIDDEN) else None
                found = answers(name, seed) if hidden is None else directions(hidden, seed)
                keep(KEPT, {"name": name, "seed": seed, "found": found})
    kept = lines(KEPT)
    put(DOC, "benchmarks.ladder", ladder_table([e for e in kept if e["name"] in TABLES]))
    put(DOC, "benchmarks.ladder acts", acts_table([e for e in kept if e["name"] not in TABLES]))


if __name__ == "__main__":
    main()
