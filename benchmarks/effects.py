"""How often an effect's interval holds it: ``python -m benchmarks.effects``.

Bundled networks, rows and epsilon. Every draw is a new sample, at each epsilon a release of it by
Marginal PC, and the effects of ordered pairs of columns, with the true graph given and with the
learned one. An interval is held against what it is called (of a linear projection: the projection
that the network's own tables give) and against the true P(y | do(x)). Beside its width stands that
of the same sample without noise. Shares, and medians of widths, are means over draws.

Cells are kept in benchmarks/results/effects.jsonl as sums over draws. Those that have fewer draws
than ``--draws`` go on where they ended, for ``--seconds`` of CPU a network and number of rows;
``--again`` begins anew. The last step writes the table into docs/explanation/effects.md;
``--tables`` does that alone.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from itertools import combinations, permutations, product
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.kept import lines
from benchmarks.written import put
from engine import Dataset, load_dataset
from engine.algorithms import marginal_pc
from engine.context import RunContext
from engine.data.networks import load_network
from engine.effects.effect import Effect, effect_of
from engine.effects.estimate import LEVELS, Interval, estimate
from engine.effects.truth import interventional, joint
from engine.graphs.cpdag import Adjacency, matrix_of
from engine.marginals.contrasts import gram, helmert
from engine.marginals.levels import merged
from engine.marginals.moments import Moments
from engine.randomness import Randomness
from engine.runner import one_thread
from engine.tables.store import store_of

KEPT = Path(__file__).parent / "results" / "effects.jsonl"
DOC = Path(__file__).resolve().parent.parent / "docs" / "explanation" / "effects.md"
MARK = "benchmarks.effects"
ROWS, EPSILONS, DELTA = (100_000, 10_000), (1.0, 0.1, 10.0), 1e-6
PAIRS = 60  # of a draw, where a network has more
LEAST = 3  # draws, however long they take
SLACK = 1e-12
ORDER = ("cancer", "earthquake", "asia", "survey", "sachs", "child", "insurance", "alarm", "water",
         "win95pts", "hailfinder")  # fmt: skip


@dataclass
class Sums:
    """How many numbers, one a draw, their sum and that of their squares."""

    count: int = 0
    total: float = 0.0
    squares: float = 0.0

    def add(self, value: float) -> None:
        """One draw more."""
        self.count, self.total = self.count + 1, self.total + value
        self.squares += value * value

    @property
    def mean(self) -> float | None:
        """None without draws."""
        return self.total / self.count if self.count else None

    @property
    def error(self) -> float | None:
        """The mean's standard error; None where there are no two draws."""
        if self.count < 2:
            return None
        spread = max(0.0, self.squares - self.total**2 / self.count) / (self.count - 1)
        return math.sqrt(spread / self.count)


@dataclass
class Tally:
    """What became of the pairs of all draws of a cell.

    ``called``, ``true``: shares of intervals that hold it; ``width``, ``plain``: median widths,
    with noise and without.
    """

    asked: int = 0
    reverse: int = 0
    refused: int = 0
    called: Sums = field(default_factory=Sums)
    true: Sums = field(default_factory=Sums)
    width: Sums = field(default_factory=Sums)
    plain: Sums = field(default_factory=Sums)

    @classmethod
    def of(cls, line: Mapping[str, Any]) -> Tally:
        """From what :func:`vars` of it and of its sums gave."""
        sums = {name: Sums(**line[name]) for name in ("called", "true", "width", "plain")}
        return cls(line["asked"], line["reverse"], line["refused"], **sums)


@dataclass
class Cell:
    """A network, rows and epsilon: draws so far, and their tallies by graph."""

    dataset: str
    n: int
    epsilon: float
    draws: int = 0
    cpu_seconds: float = 0.0
    true: Tally = field(default_factory=Tally)
    learned: Tally = field(default_factory=Tally)

    @property
    def key(self) -> tuple[str, int, float]:
        """What tells it from others."""
        return self.dataset, self.n, self.epsilon


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


@cache
def projected(name: str, x: int, y: int, adjusted: tuple[int, ...]) -> np.ndarray | None:
    """(levels of x, levels of y): the projection that the network's own tables give."""
    own = estimate(population(name), x, y, adjusted)
    return None if own is None else own.risks


def sampled(data: Dataset) -> Moments:
    """The sample's own tensors, without noise."""
    store = store_of(data)
    one, two = store.keep(("contrast gram",), lambda: gram(store.rows))
    return _moments(data.n, store.rows.cardinalities, one / data.n, two / data.n)


class Sample:
    """Rows of one draw, the pairs that are asked about, and their intervals without noise."""

    def __init__(self, name: str, n: int, seed: int):
        self.data = load_dataset(name, n=n, seed=seed)
        self._moments = sampled(self.data)
        self.pairs = list(permutations(range(self.data.d), 2))
        if len(self.pairs) > PAIRS:
            chosen = np.random.default_rng(seed).choice(len(self.pairs), PAIRS, replace=False)
            self.pairs = [self.pairs[k] for k in chosen]
        self._widths: dict[tuple[Any, ...], float | None] = {}

    def width(self, x: int, y: int, adjusted: tuple[int, ...], *at: int) -> float | None:
        """The width without noise; None where there is no interval."""
        key = (x, y, adjusted, *at)
        if key not in self._widths:
            free = estimate(self._moments, x, y, adjusted)
            self._widths[key] = None if free is None else free.difference(*at).width
        return self._widths[key]


def released(data: Dataset, epsilon: float, seed: int) -> tuple[Moments, Adjacency]:
    """What Marginal PC releases of the data, and the graph it learns."""
    params = marginal_pc.MarginalPCParameters.build({"epsilon": epsilon, "delta": DELTA})
    data = merged(data)
    owner = RunContext(Randomness(seed), marginal_pc.ledger(data, params), data.names, trace=False)
    with one_thread():
        limit = params.order_limit(data)
        tests = marginal_pc.release(store_of(data), params, limit, owner)
        return tests.moments, marginal_pc.conclude(data, tests, params, owner).cpdag


def one_draw(sample: Sample, epsilon: float, seed: int, cell: Cell) -> None:
    """One release; the pairs are the same for both graphs."""
    data = sample.data
    moments, learned = released(data, epsilon, seed)
    assert data.truth is not None
    for tally, graph in ((cell.true, matrix_of(data.truth, data.names)), (cell.learned, learned)):
        hits = Hits()
        for x, y in sample.pairs:
            found = effect_of(moments, data.names, data.levels, graph, data.names[x], data.names[y])
            _count(found, sample, x, y, tally, hits)
        for name, values in vars(hits).items():
            if values:
                middle = np.mean if name in ("called", "true") else np.median
                getattr(tally, name).add(float(middle(values)))
    cell.draws += 1


@dataclass
class Hits:
    """Of one draw, as in :class:`Tally`: one number an interval."""

    called: list[float] = field(default_factory=list)
    true: list[float] = field(default_factory=list)
    width: list[float] = field(default_factory=list)
    plain: list[float] = field(default_factory=list)


def _count(found: Effect, sample: Sample, x: int, y: int, tally: Tally, hits: Hits) -> None:
    data = sample.data
    tally.asked += 1
    if found.refusal is not None:
        everywhere = all(version.reverse for version in found.versions)
        tally.reverse, tally.refused = tally.reverse + everywhere, tally.refused + (not everywhere)
        return
    to, base = data.levels[x].index(found.level), data.levels[x].index(found.base)
    event, told = data.levels[y].index(found.event), found.difference
    really = _change(interventional(data.name, data.names[x], data.names[y]), to, base, event)
    inside = _holds(told, really)
    hits.true.append(inside or (found.reverse > 0 and abs(really) < SLACK))
    hits.width.append(told.width)
    if len(found.answers) == 1:
        answer = found.answers[0]
        target = None
        if answer.method != LEVELS or not answer.adjusted:
            target = projected(data.name, x, y, answer.adjusted)
        hits.called.append(
            _holds(told, really if target is None else _change(target, to, base, event))
        )
        free = sample.width(x, y, answer.adjusted, to, base, event)
        if free is not None:
            hits.plain.append(free)


def _change(risks: np.ndarray, to: int, base: int, event: int) -> float:
    return float(risks[to, event] - risks[base, event])


def _holds(told: Interval, value: float) -> bool:
    return told.low - SLACK <= value <= told.high + SLACK


def measure(name: str, n: int, cells: Sequence[Cell], draws: int, seconds: float) -> None:
    """Draw for all epsilons of a network and number of rows, until each has its draws."""
    begun, seed = time.process_time(), min(cell.draws for cell in cells)
    first = seed
    while seed < draws and (seed < first + LEAST or time.process_time() - begun < seconds):
        sample = Sample(name, n, seed)
        for cell in cells:
            if cell.draws == seed:
                start = time.process_time()
                one_draw(sample, cell.epsilon, seed, cell)
                cell.cpu_seconds = round(cell.cpu_seconds + time.process_time() - start, 2)
        seed += 1


def kept() -> dict[tuple[str, int, float], Cell]:
    """The cells that were measured."""
    cells = [
        Cell(**line | {"true": Tally.of(line["true"]), "learned": Tally.of(line["learned"])})
        for line in lines(KEPT)
    ]
    return {cell.key: cell for cell in cells}


def keep(cells: Iterable[Cell]) -> None:
    """Write all cells, in the order of the table."""
    KEPT.parent.mkdir(exist_ok=True)
    ordered = sorted(cells, key=_place)
    text = "".join(json.dumps(asdict(cell)) + "\n" for cell in ordered)
    KEPT.write_text(text, encoding="utf-8")


def _place(cell: Cell) -> tuple[int, int, float]:
    return ORDER.index(cell.dataset), -cell.n, cell.epsilon


def table() -> str:
    """One row a cell."""
    lines = [
        "| network | rows | ε | draws | refused | holds what it is called | holds the truth "
        "| width | without noise | learned graph: holds the truth | reverse / refused |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for cell in sorted(kept().values(), key=_place):
        true, learned = cell.true, cell.learned
        lines.append(
            f"| {cell.dataset} | {cell.n:,} | {cell.epsilon:g} | {cell.draws} "
            f"| {true.refused / true.asked:.2f} | {_share(true.called)} | {_share(true.true)} "
            f"| {_width(true.width)} | {_width(true.plain)} | {_share(learned.true)} "
            f"| {learned.reverse / learned.asked:.2f} / {learned.refused / learned.asked:.2f} |"
        )
    return "\n".join(lines)


def _share(found: Sums) -> str:
    if found.mean is None:
        return "–"
    return f"{found.mean:.3f}" if found.error is None else f"{found.mean:.3f} ± {found.error:.3f}"


def _width(found: Sums) -> str:
    return "–" if found.mean is None else f"{found.mean:.3f}"


def main() -> None:
    """Run what is missing, then write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=150.0)
    parser.add_argument("--networks", default=",".join(ORDER))
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--tables", action="store_true")
    options = parser.parse_args()
    cells = {} if options.again else kept()
    if not options.tables:
        for name, n in product(options.networks.split(","), ROWS):
            here = [cells.get((name, n, e), Cell(name, n, e)) for e in EPSILONS]
            measure(name, n, here, options.draws, options.seconds)
            cells |= {cell.key: cell for cell in here}
            keep(cells.values())
            print(
                name, n, [(cell.epsilon, cell.draws, cell.cpu_seconds) for cell in here], flush=True
            )
    put(DOC, MARK, table())


if __name__ == "__main__":
    main()
