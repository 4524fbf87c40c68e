"""How narrow a question's interval is, and how often it holds: ``python -m benchmarks.question``.

Every draw is a random network of 6 to 12 columns, a sample, and a true cause and outcome. It is
released without the question and with it, without declared knowledge and with the order of time
declared (columns before the cause, the cause, columns after it). Widths are relative to the plain
estimate: the true adjustment set and no noise. Draws are kept in ``benchmarks/results``; the table
goes into research/effects.md. ``--seconds`` of CPU end a run between two draws.
"""

from __future__ import annotations

import argparse
import math
import time
from collections import defaultdict
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.effects import DELTA, DOC, rows_of
from benchmarks.kept import keep, lines
from benchmarks.random_networks import random_network
from benchmarks.written import put
from engine import Dataset, Knowledge, run
from engine.data.networks import Network
from engine.effects.adjustment import adjustment_set
from engine.effects.estimate import Contrast, Interval
from engine.effects.influence import Numbers, countable, influence
from engine.effects.truth import joint
from engine.graphs.cpdag import matrix_of
from engine.graphs.orientation import reachable
from engine.marginals.contrasts import gram, tensor
from engine.marginals.moments import Moments
from engine.question import Question
from engine.tables.store import store_of

KEPT = Path(__file__).parent / "results" / "question.jsonl"
ROWS, EPSILONS, DRAWS, FIRST = (2_000, 20_000, 100_000), (0.3, 1.0, 3.0), 120, 91_000


def one(n: int, seed: int) -> dict[str, Any] | None:
    """Release one draw four times; None where no cause has two levels with 20 records each."""
    d, epsilon = 6 + seed % 7, EPSILONS[seed % 3]
    network = random_network(d, round(1.2 * d), seed)
    data = rows_of(network, n, seed)
    assert data.truth is not None
    truth = matrix_of(data.truth, data.names)
    ways, rng = reachable(truth), np.random.default_rng([seed, 1])
    ends = [np.bincount(column)[[0, -1]].min() for column in data.codes.T]
    pairs = [(x, y) for x, y in np.argwhere(ways) if ends[x] >= 20]
    if not pairs:
        return None
    x, y = map(int, pairs[rng.integers(len(pairs))])
    asked = Contrast(x, len(data.levels[x]) - 1, 0, y, (*(0.0,) * (len(data.levels[y]) - 1), 1.0))
    plain = without_noise(data, asked, adjustment_set(truth, ways, x, y))
    if plain is None:
        return None
    found: dict[str, Any] = {"epsilon": epsilon, "truth": true_difference(network, asked),
                             "plain": plain.width}  # fmt: skip
    names = np.array(data.names)
    after = ways[x] | ways[y]
    after[y] = True
    before = ~after
    before[x] = False
    groups = (names[before].tolist(), [data.names[x]], names[after].tolist())
    order = Knowledge(tiers=tuple(tuple(tier) for tier in groups if tier))
    levels = data.levels[x][0], data.levels[x][-1]
    question = Question(cause=data.names[x], outcome=data.names[y], levels=levels,
                        outcome_level=data.levels[y][-1])  # fmt: skip
    for word, known in (("nothing", None), ("order", order)):
        for told in (None, question):
            result = run("marginal_pc", data, epsilon=epsilon, delta=DELTA, seed=seed,
                         knowledge=known, question=told)  # fmt: skip
            moved = result.effect(
                question.cause, question.outcome, cause_level=levels[1], reference=levels[0],
                outcome_level=question.outcome_level,
            ).difference  # fmt: skip
            scheme = f"{word}, {'question' if told else 'release'}"
            found[scheme] = None if moved is None else [moved.low, moved.high]
    return found


def true_difference(network: Network, asked: Contrast) -> float:
    """Return the difference by the network's own tables."""
    p = joint(network, (asked.cause, asked.outcome), cut=(asked.cause,))
    means = p @ asked.values / p.sum(axis=1)
    return float(means[asked.level] - means[asked.reference])


def without_noise(data: Dataset, asked: Contrast, adjusted: tuple[int, ...]) -> Interval | None:
    """Return the interval of the true adjustment set without noise; None for too many cells."""
    rows = store_of(data).rows
    one_way, two_way = gram(rows)
    free = np.zeros((data.d, data.d))
    columns = sorted((asked.cause, asked.outcome, *adjusted))
    higher = {key: tensor(rows, key) / data.n for size in range(3, len(columns) + 1)
              for key in combinations(columns, size)}  # fmt: skip
    m = Moments(data.n, rows.cardinalities, one_way / data.n, two_way / data.n, free[0], free,
                higher, dict.fromkeys(higher, 0.0))  # fmt: skip
    if not countable(m, asked, adjusted):
        return None
    numbers = Numbers((influence(m, asked, adjusted, 1e9),))
    return numbers.intervals(numbers.sums(rows), 0.0, data.n)[0]


def table(kept: Sequence[dict[str, Any]]) -> str:
    """One row per scheme: half width relative to the plain one, coverage, share answered, per n."""
    heads = [f"n = {n:,}" for n in ROWS]
    out = [f"| width ÷ plain; holds; answered | {' | '.join(heads)} |", "|---" * 4 + "|"]
    cells = defaultdict(list)
    for each in kept:
        cells[each["n"]].append(each["found"])
    for scheme in [k for k in kept[0]["found"] if "," in k]:
        row = []
        for n in ROWS:
            draws = cells[n]
            told = [(d[scheme], d) for d in draws if d[scheme] is not None]
            if not told:
                row.append("–")
                continue
            held = np.array([low - 1e-9 <= d["truth"] <= high + 1e-9 for (low, high), d in told])
            ratio = np.median([(high - low) / d["plain"] for (low, high), d in told])
            error = math.sqrt(held.mean() * (1 - held.mean()) / len(held))
            answered = len(told) / len(draws)
            row.append(f"{ratio:.2f}; {held.mean():.3f} ± {error:.3f}; {answered:.2f}")
        out.append(f"| {scheme} | {' | '.join(row)} |")
    counts = ", ".join(f"{len(cells[n])}" for n in ROWS)
    said = f"{counts} draws, one question each; ε = 0.3, 1 and 3 pooled; medians of widths."
    return "\n".join([*out, "", said])


def main() -> None:
    """Run the missing draws, then write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600.0, help="of CPU")
    options = parser.parse_args()
    there = {(each["n"], each["seed"]) for each in lines(KEPT)}
    for seed in range(FIRST, FIRST + 2 * DRAWS):
        for n in ROWS:
            if (n, seed) not in there and time.process_time() < options.seconds:
                found = one(n, seed)
                if found is not None:
                    keep(KEPT, {"n": n, "seed": seed, "found": found})
    put(DOC, "benchmarks.question", table(lines(KEPT)))


if __name__ == "__main__":
    main()
