"""How often an effect's interval holds it: ``python -m benchmarks.effects``.

Bundled networks, rows and epsilon; every draw is a new sample, a release by Marginal PC, and the
effects of ordered pairs of columns, with the true graph given and with the learned one. An interval
is held against what it is called (of a linear projection: the projection that the network's own
tables give) and against the true P(y | do(x)). Beside its width stands that of the same sample
without noise. Shares are means over draws, errors over draws too.

Cells are kept in benchmarks/results/effects.jsonl, and one that is kept is not run again
(``--again`` runs all). A cell ends after ``--draws`` draws or ``--seconds``, and says how many it
had. The last step writes the table into docs/explanation/effects.md; ``--tables`` does that alone.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations, permutations, product
from pathlib import Path

import numpy as np

from benchmarks.written import put
from engine import Dataset, load_dataset
from engine.algorithms import marginal_pc
from engine.data.networks import NETWORKS, load_network
from engine.effects.effect import Effect, effect_of
from engine.effects.estimate import LEVELS, estimate
from engine.effects.truth import interventional, joint
from engine.graphs.cpdag import Adjacency, matrix_of
from engine.marginals.contrasts import gram, helmert
from engine.marginals.levels import merged
from engine.marginals.moments import Moments
from engine.randomness import Randomness
from engine.runner import one_thread
from engine.session import Session
from engine.tables.store import store_of

KEPT = Path(__file__).parent / "results" / "effects.jsonl"
DOC = Path(__file__).resolve().parent.parent / "docs" / "explanation" / "effects.md"
MARK = "benchmarks.effects"
ROWS, EPSILONS, DELTA = (100_000, 10_000), (1.0, 0.1, 10.0), 1e-6
PAIRS = 60  # of a draw, where a network has more
ORDER = ("cancer", "earthquake", "asia", "survey", "sachs", "child", "insurance", "alarm", "water",
         "win95pts", "hailfinder")  # fmt: skip


@dataclass
class Tally:
    """What became of the pairs of every draw; one number a draw."""

    asked: int = 0
    reverse: int = 0
    refused: int = 0
    called: list[float] = field(default_factory=list)
    true: list[float] = field(default_factory=list)
    widths: list[float] = field(default_factory=list)
    plain: list[float] = field(default_factory=list)

    def summary(self) -> dict[str, float | int | None]:
        """Shares with their errors, median widths."""
        out: dict[str, float | int | None] = {
            "asked": self.asked,
            "reverse": self.reverse / max(1, self.asked),
            "refused": self.refused / max(1, self.asked),
        }
        for name, shares in (("called", self.called), ("true", self.true)):
            out[name] = float(np.mean(shares)) if shares else None
            out[f"{name}_error"] = _error(shares)
        for name, widths in (("width", self.widths), ("plain", self.plain)):
            out[name] = float(np.median(widths)) if widths else None
        return out


def _error(values: Sequence[float]) -> float | None:
    return float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else None


@cache
def population(name: str) -> Moments:
    """The network's own one- and two-way tensors."""
    network = load_network(name)
    cards = tuple(map(len, network.states))
    ends = np.cumsum([0] + [r - 1 for r in cards])
    one, two = np.zeros(ends[-1]), np.zeros((ends[-1], ends[-1]))
    for i, j in combinations(range(len(cards)), 2):
        p = joint(network, (i, j))
        a, b = slice(ends[i], ends[i + 1]), slice(ends[j], ends[j + 1])
        two[a, b] = helmert(cards[i]).T @ p @ helmert(cards[j])
        two[b, a] = two[a, b].T
        one[a], one[b] = helmert(cards[i]).T @ p.sum(axis=1), helmert(cards[j]).T @ p.sum(axis=0)
    return _moments(10**9, cards, one, two)


def _moments(n: int, cards: tuple[int, ...], one: np.ndarray, two: np.ndarray) -> Moments:
    d = len(cards)
    return Moments(n, cards, one, two, np.zeros(d), np.zeros((d, d)))


def sampled(data: Dataset) -> Moments:
    """The sample's own tensors, without noise."""
    rows = store_of(data).rows
    one, two = gram(rows)
    return _moments(data.n, rows.cardinalities, one / data.n, two / data.n)


def released(data: Dataset, epsilon: float, seed: int) -> tuple[Moments, Adjacency]:
    """What Marginal PC releases of the data, and the graph it learns."""
    params = marginal_pc.MarginalPCParameters.build({"epsilon": epsilon, "delta": DELTA})
    data = merged(data)
    session = Session(Randomness(seed), marginal_pc.ledger(data, params), data.names, trace=False)
    with one_thread():
        limit = params.order_limit(data)
        tests = marginal_pc.release(store_of(data), params, limit, session)
        return tests.moments, marginal_pc.conclude(data, tests, params, session).cpdag


def one_draw(data: Dataset, epsilon: float, seed: int, tallies: dict[str, Tally]) -> None:
    """One release; the pairs are the same for both graphs."""
    moments, learned = released(data, epsilon, seed)
    assert data.truth is not None
    pairs = list(permutations(range(data.d), 2))
    if len(pairs) > PAIRS:
        chosen = np.random.default_rng(seed).choice(len(pairs), PAIRS, replace=False)
        pairs = [pairs[k] for k in chosen]
    plain = sampled(data)
    graphs = {"true": matrix_of(data.truth, data.names), "learned": learned}
    for which, graph in graphs.items():
        tally, called, true = tallies[which], list[bool](), list[bool]()
        for x, y in pairs:
            found = effect_of(moments, data.names, data.levels, graph, data.names[x], data.names[y])
            _count(found, data, x, y, tally, called, true, plain)
        for kept, hits in ((tally.called, called), (tally.true, true)):
            if hits:
                kept.append(float(np.mean(hits)))


def _count(
    found: Effect, data: Dataset, x: int, y: int, tally: Tally, called: list[bool],
    true: list[bool], plain: Moments,
) -> None:  # fmt: skip
    tally.asked += 1
    if found.refusal is not None:
        everywhere = all(version.reverse for version in found.versions)
        tally.reverse, tally.refused = tally.reverse + everywhere, tally.refused + (not everywhere)
        return
    to, base = data.levels[x].index(found.level), data.levels[x].index(found.base)
    event, told = data.levels[y].index(found.event), found.difference
    risks = interventional(data.name, data.names[x], data.names[y])
    really = float(risks[to, event] - risks[base, event])
    slack = 1e-12
    inside = told.low - slack <= really <= told.high + slack
    true.append(inside or (found.reverse > 0 and abs(really) < slack))
    tally.widths.append(told.width)
    if len(found.answers) == 1:
        answer = found.answers[0]
        target = really if answer.method == LEVELS and answer.adjusted else None
        if target is None:
            own = estimate(population(data.name), x, y, answer.adjusted)
            target = really if own is None else float(own.risks[to, event] - own.risks[base, event])
        called.append(told.low - slack <= target <= told.high + slack)
        free = estimate(plain, x, y, answer.adjusted)
        if free is not None:
            tally.plain.append(free.difference(to, base, event).width)


def measure(name: str, n: int, epsilon: float, draws: int, seconds: float) -> None:
    """One cell, kept when it is done."""
    tallies, begun, done = {"true": Tally(), "learned": Tally()}, time.process_time(), 0
    while done < draws and (done < 3 or time.process_time() - begun < seconds):
        one_draw(load_dataset(name, n=n, seed=done), epsilon, done, tallies)
        done += 1
    line = {"dataset": name, "n": n, "epsilon": epsilon, "draws": done}
    line |= {which: tally.summary() for which, tally in tallies.items()}
    line["cpu_seconds"] = round(time.process_time() - begun, 1)
    KEPT.parent.mkdir(exist_ok=True)
    with KEPT.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")
    print(line, flush=True)


def kept() -> list[dict]:  # type: ignore[type-arg]
    """The cells that were measured."""
    if not KEPT.exists():
        return []
    return [json.loads(line) for line in KEPT.read_text(encoding="utf-8").splitlines()]


def table() -> str:
    """One row a cell."""
    lines = [
        "| network | rows | ε | draws | refused | holds what it is called | holds the truth "
        "| width | without noise | learned graph: holds the truth | reverse / refused |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for cell in sorted(kept(), key=lambda c: (ORDER.index(c["dataset"]), -c["n"], c["epsilon"])):
        true, learned = cell["true"], cell["learned"]
        none = true["refused"]
        lines.append(
            f"| {cell['dataset']} | {cell['n']:,} | {cell['epsilon']:g} | {cell['draws']} "
            f"| {none:.2f} | {_share(true, 'called')} | {_share(true, 'true')} "
            f"| {_width(true['width'])} | {_width(true['plain'])} | {_share(learned, 'true')} "
            f"| {learned['reverse']:.2f} / {learned['refused']:.2f} |"
        )
    return "\n".join(lines)


def _share(found: dict[str, float | None], name: str) -> str:
    value, error = found[name], found[f"{name}_error"]
    if value is None:
        return "–"
    return f"{value:.3f}" if error is None else f"{value:.3f} ± {error:.3f}"


def _width(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def main() -> None:
    """Run what is not kept, then write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=60.0, help="of CPU, a cell")
    parser.add_argument("--networks", default=",".join(ORDER))
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--tables", action="store_true")
    options = parser.parse_args()
    if options.again:
        KEPT.unlink(missing_ok=True)
    if not options.tables:
        done = {(cell["dataset"], cell["n"], cell["epsilon"]) for cell in kept()}
        for n, epsilon, name in product(ROWS, EPSILONS, options.networks.split(",")):
            if name in NETWORKS and (name, n, epsilon) not in done:
                measure(name, n, epsilon, options.draws, options.seconds)
    put(DOC, MARK, table())


if __name__ == "__main__":
    main()
