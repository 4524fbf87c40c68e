"""How often a forecast is right: ``python -m benchmarks.forecast [--bif FOLDER]``.

Each network is forecast from its schema and the default density alone, every other bundled network
lending its tables, and run on separate samples. Simulated and real F1 are kept in
benchmarks/results/forecast.jsonl, one network and number of rows per line, and a kept line is not
run again. From them follow, without a run, the ends of the band (how far from the median they must
lie for TAIL of the real F1 to lie beyond either) and the share inside it where the ends come from
all networks but the judged one: the table of privacy_audit.md, and the numbers in
engine/studies/forecast.py, which are printed.

FOLDER holds further networks as BIF, which are no part of the project: those of pgmpy 0.1.26 lie in
pgmpy/utils/example_models. They are too wide to run; a few columns of each, with all their
ancestors, make a separate network.
"""

from __future__ import annotations

import argparse
import gzip
import time
import zlib
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from benchmarks.kept import keep, lines
from benchmarks.written import put
from engine.data.dataset import Dataset
from engine.data.networks import NETWORKS, Network, load_network, network_of
from engine.percent import percent
from engine.registry import algorithm
from engine.studies.plan import (
    ENDS,
    KNOTS,
    LEAST_END,
    Band,
    Ends,
    PlanRequest,
    ends_for,
    kind_of,
    planned_algorithms,
)
from engine.studies.study import sweep
from engine.studies.tune import score_of
from scripts.convert_networks import parse_bif

RAN = Path(__file__).parent / "results" / "forecast.jsonl"
DOC = Path(__file__).resolve().parent.parent / "research" / "forecast.md"
EPSILONS = (0.1, 1.0, 10.0)
DRAWS, REAL = 10, 2
DELTA = 1e-6
TAIL = 0.08  # of the other networks' runs beyond an end: a tenth of a new network's, as counted
GRADIENTS = ("noleaks", "curate_notears")
GRADIENT_COLUMNS, GRADIENT_ROWS, MOST = 12, 10_000, 40  # descents on more take seconds per run
FOREIGN = ("hepar2", "andes", "munin1", "link", "pigs", "barley")
PARTS, SMALLEST, LARGEST, LEVELS = 1, 6, 14, 12  # of each of these


class Judged(NamedTuple):
    """A setting on a network: the simulated networks' F1, and the real ones."""

    network: str
    algorithm: str
    rows: int
    epsilon: float
    drawn: tuple[float, ...]
    real: tuple[float, ...]


def bundled() -> Iterator[tuple[str, Network]]:
    """The bundled networks that can be run."""
    known = ((name, load_network(name)) for name in NETWORKS)
    yield from ((name, network) for name, network in known if len(network.names) <= MOST)


def foreign(folder: Path) -> Iterator[tuple[str, Network]]:
    """Parts of networks that are not bundled: random nodes with all their ancestors."""
    for name in FOREIGN:
        text = gzip.decompress((folder / f"{name}.bif.gz").read_bytes()).decode("utf-8")
        nodes = {node["name"]: node for node in parse_bif(text)}
        graph = nx.DiGraph((p, name) for name, node in nodes.items() for p in node["parents"])
        narrow = {n for n, node in nodes.items() if len(node["states"]) <= LEVELS}
        for part in range(PARTS):
            rng = np.random.default_rng([part, len(nodes)])
            yield f"{name}-{part}", _part(f"{name}-{part}", nodes, graph, narrow, rng)


def _part(
    name: str, nodes: dict[str, Any], graph: nx.DiGraph, narrow: set[str], rng: np.random.Generator
) -> Network:
    """Node after node with its ancestors, as far as they fit, until there are enough."""
    chosen: set[str] = set()
    for node in rng.permutation(sorted(graph)):
        more = chosen | {str(node)} | nx.ancestors(graph, str(node))
        if len(more) <= LARGEST and more <= narrow and _joined(graph, more, chosen):
            chosen = more
        if len(chosen) >= SMALLEST:
            break
    return network_of(name, [nodes[n] for n in nodes if n in chosen])


def _joined(graph: nx.DiGraph, more: set[str], chosen: set[str]) -> bool:
    """Return whether the added columns have an edge, to the chosen ones or among themselves."""
    return bool(graph.subgraph(more).number_of_edges() - graph.subgraph(chosen).number_of_edges())


def algorithms(columns: int, rows: int) -> list[str]:
    """The strict algorithms; descents take the most time, and are judged on some settings only."""
    slow = columns <= GRADIENT_COLUMNS and rows == GRADIENT_ROWS
    return [k for k in planned_algorithms() if slow or k not in GRADIENTS]


Cell = tuple[str, str, int, float]  # network, algorithm, rows, epsilon


def judged(name: str, network: Network, rows: int, done: Container[Cell]) -> Iterator[Judged]:
    """Simulate and run the missing cells."""
    cells = product(algorithms(len(network.names), rows), EPSILONS)
    asked = [(key, e) for key, e in cells if (name, key, rows, e) not in done]
    if not asked:
        return
    donors = tuple(other for other in NETWORKS if other != name)
    question = PlanRequest(network.names, network.states, rows, donors=donors)
    other = zlib.crc32(name.encode())  # so that every network draws its donors again
    simulated = [question.dataset(k, other) for k in range(DRAWS)]
    real = [_sample(network, rows, k) for k in range(REAL)]
    for key, epsilon in asked:
        grid, f1 = {"epsilon": epsilon, "delta": DELTA}, list[tuple[float, ...]]()
        for some in (simulated, real):
            made = (r for k, data in enumerate(some) for r in sweep(data, key, grid, [k]))
            f1.append(tuple(round(score_of(r, "skeleton_f1"), 4) for r in made))
        yield Judged(name, key, rows, epsilon, *f1)


def _sample(network: Network, rows: int, k: int) -> Dataset:
    codes = network.sample(rows, np.random.default_rng([k, rows]))
    return Dataset.from_codes(
        codes, network.names, network.states, name=network.name, truth=network.dag(), public=True
    )


def kept() -> list[Judged]:
    """Return the kept runs."""
    return [Judged(a, b, c, d, tuple(e), tuple(f)) for a, b, c, d, e, f in lines(RAN)]


def measure(networks: Iterable[tuple[str, Network]]) -> None:
    """Run the missing networks."""
    done = {(j.network, j.algorithm, j.rows, j.epsilon) for j in kept()}
    for (name, network), rows in product(networks, KNOTS):
        start = time.process_time()
        found = list(judged(name, network, rows, done))
        keep(RAN, *found)
        print(name, rows, f"{time.process_time() - start:.0f} s", flush=True)


Array = NDArray[np.float64]
_band = cache(Band.of)  # a network is judged by each of the others


def scores(found: Sequence[Judged]) -> tuple[Array, Array]:
    """How far below and above the median each real F1 lies, in the simulated band's lengths.

    A run that lies on the other side has a score below 0.
    """
    out = []
    for one in found:
        band = _band(one.drawn)
        ends = max(band.median - band.low, LEAST_END), max(band.high - band.median, LEAST_END)
        out += [((band.median - r) / ends[0], (r - band.median) / ends[1]) for r in one.real]
    below, above = np.array(out).T
    return below, above


def fitted(found: Sequence[Judged]) -> dict[str, Ends]:
    """The ends beyond which TAIL of the runs lies on either side, by kind and number of rows.

    Every network counts alike, however many of its runs there are.
    """
    return {
        kind: tuple(
            _ends([j for j in found if kind_of(j.algorithm) == kind and j.rows == rows])
            for rows in KNOTS
        )
        for kind in ENDS
    }


def _ends(found: Sequence[Judged]) -> tuple[float, float]:
    if not found:
        return 1.0, 1.0
    weights = np.concatenate([np.full(len(j.real), 1 / _count(found, j)) for j in found])
    below, above = (_quantile(score, weights, 1 - TAIL) for score in scores(found))
    return max(0.0, below), max(0.0, above)


def _count(found: Sequence[Judged], one: Judged) -> int:
    return sum(len(j.real) for j in found if j.network == one.network)


def _quantile(values: Array, weights: Array, share: float) -> float:
    order = np.argsort(values)
    reached = np.cumsum(weights[order]) / weights.sum()
    return float(values[order][np.searchsorted(reached, share)])


def places(found: Sequence[Judged]) -> dict[Judged, list[int]]:
    """Where each real F1 lies, -1 below, 0 inside, 1 above, with ends from the other networks."""
    out: dict[Judged, list[int]] = {}
    for network in dict.fromkeys(one.network for one in found):
        ends = fitted([one for one in found if one.network != network])
        for one in found:
            if one.network == network:
                own = ends_for(one.rows, ends[kind_of(one.algorithm)])
                band = _band(one.drawn).stretched(*own, LEAST_END)
                out[one] = [int(r > band.high) - int(r < band.low) for r in one.real]
    return out


def table(found: Sequence[Judged]) -> str:
    """Return how many real F1 were inside, below and above: in all, and by question."""
    where = places(found)
    lines = ["| | inside | below | above | runs |", "|---|---|---|---|---|"]

    def line(name: str, some: Iterable[Judged]) -> None:
        every = np.array([place for one in some for place in where[one]])
        shares = (percent(float(np.mean(every == place))) for place in (0, -1, 1))
        lines.append(f"| {name} | {' | '.join(shares)} | {len(every):,} |")

    line("all", found)
    for field, write in COLUMNS.items():
        for value in sorted({getattr(one, field) for one in found}):
            line(write(value), (one for one in found if getattr(one, field) == value))
    return "\n".join(lines)


COLUMNS: dict[str, Callable[[Any], str]] = {
    "algorithm": lambda key: algorithm(key).title,
    "rows": lambda n: f"n = {n:,}",
    "epsilon": lambda e: f"ε = {e:g}",
    "network": lambda name: name.capitalize(),
}


def constants(found: Sequence[Judged]) -> dict[str, Any]:
    """Return the constants of engine/studies/forecast.py."""
    every = [place for some in places(found).values() for place in some]
    return {
        "ENDS": {
            kind: tuple((round(below, 2), round(above, 2)) for below, above in ends)
            for kind, ends in fitted(found).items()
        },
        "HELD": round(every.count(0) / len(every), 3),
        "RUNS": len(every),
        "JUDGED": len({one.network for one in found}),
    }


def main() -> None:
    """Run the missing networks, then write the results from all of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bif", type=Path, help="a folder of further networks")
    parser.add_argument("--tables", action="store_true", help="run nothing")
    parser.add_argument("--networks", default="", help="with commas; all by default")
    options = parser.parse_args()
    if not options.tables:
        further = [] if options.bif is None else list(foreign(options.bif))
        wanted = set(filter(None, options.networks.split(",")))
        some = [one for one in (*bundled(), *further) if not wanted or one[0] in wanted]
        measure(sorted(some, key=lambda one: len(one[1].names)))
    put(DOC, "benchmarks.forecast", table(kept()))
    print(*(f"{name} = {value}" for name, value in constants(kept()).items()))


if __name__ == "__main__":
    main()
