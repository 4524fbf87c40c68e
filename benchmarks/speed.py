"""``make bench``: the speed of this project, of peers and of the machine, all in one run.

1. One order-2 test on Alarm (n = 100,000) and one read of its four columns from memory.
2. Full PC with G2 and with chi2, and causal-learn's ``pc(..., 'gsq')`` and ``'chisq'`` on the
   same arrays, pgmpy's where ``PGMPY`` names the folder of its packages. Next to G2 also hill
   climbing on shuffled columns, and ``pc.stable`` of R's bnlearn where that is installed.
3. How long each algorithm takes on the seven networks, cold (nothing counted) and warm.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks import bnlearn, hill, pgmpy
from benchmarks.written import put
from engine import ALGORITHMS, load_dataset, run
from engine.data.dataset import Dataset
from engine.data.networks import NETWORKS
from engine.graphs.cpdag import Adjacency, matrix_of
from engine.statistics.likelihood import G2
from engine.tables.store import Store

SEVEN = NETWORKS[:7]
PEERED = ("sachs", "child", "alarm", "insurance", "win95pts")
ALPHA = 0.01
PATIENCE = 2.0  # seconds; a slower run is repeated once only
BUDGET = 30.0  # CPU seconds of a peer on a network, after which it is not repeated
PAGE = Path(__file__).resolve().parent.parent / "research" / "speed.md"


def best_of(action: Callable[[], object], repeats: int) -> float:
    """Return the quickest of several timings, in seconds: the time of the work itself."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return min(times)


def fresh(data: Dataset) -> Dataset:
    """The same data as a new object, of which nothing has been counted."""
    return Dataset.from_codes(
        data.codes, data.names, data.levels, name=data.name, truth=data.truth, public=True
    )


def one_test() -> None:
    """Section 1."""
    data = load_dataset("alarm")
    rows = Store(data).rows
    given, x, y = (11, 30), 5, 20
    columns = [np.ascontiguousarray(data.codes[:, c]) for c in (*given, x, y)]
    read = best_of(lambda: [c.max() for c in columns], 400)
    count = best_of(lambda: rows.table(x, y, given), 400)
    test = best_of(lambda: G2.score(rows.table(x, y, given)), 400)
    print("One order-2 test on Alarm, n = 100,000 (microseconds)")
    print(f"  reading the 4 columns once   {read * 1e6:8.1f}")
    print(f"  its table                    {count * 1e6:8.1f}   {count / read:.1f} x the read")
    print(f"  its table and G2             {test * 1e6:8.1f}   {test / read:.1f} x the read")


def peer_run(data: Dataset, test: str = "gsq") -> tuple[float, Adjacency]:
    """causal-learn's CPU seconds and skeleton (d, d) on the same array."""
    from causallearn.search.ConstraintBased.PC import pc

    array = np.ascontiguousarray(data.codes).astype(int)
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        start = time.process_time()
        graph = pc(array, ALPHA, test, show_progress=False).G.graph
        seconds = time.process_time() - start
    return seconds, (graph != 0) | (graph.T != 0)


def f1(skeleton: Adjacency, data: Dataset) -> float:
    """Skeleton F1 against the true graph."""
    assert data.truth is not None
    true = matrix_of(data.truth, data.names)
    true = true | true.T
    return float(2 * (skeleton & true).sum() / (skeleton.sum() + true.sum()))


def agreement(one: Adjacency, other: Adjacency) -> float:
    """Edges that both skeletons have, of those that either has."""
    return float((one & other).sum() / max(1, (one | other).sum()))


def our_run(data: Dataset, statistic: str) -> tuple[float, Adjacency]:
    """Our CPU seconds and skeleton (d, d), folding and counting from nothing."""
    copy = fresh(data)
    start = time.process_time()
    result = run("pc", copy, statistic=statistic, threshold=ALPHA, trace=False)
    return time.process_time() - start, result.matrix | result.matrix.T


PeerRun = Callable[[Dataset], tuple[float, Adjacency] | None]
# A statistic's title, and what we, causal-learn and pgmpy call it.
NAMES = (("G2", "g2", "gsq", "g_sq"), ("chi2", "chi2", "chisq", "chi_square"))
HEAD = (
    "| | floor | ours | F1 | peer | | F1 | times | agree |\n"
    "|---|---:|---:|---:|---|---:|---:|---:|---:|"
)


def full_pc(repeats: int, names: Sequence[str], *, write: bool = False) -> None:
    """Section 2. Ours includes folding and counting from nothing each time."""
    if not pgmpy.installed():
        print(pgmpy.MISSING)
    for title, test, *words in NAMES:
        these: dict[str, PeerRun] = {"causal-learn": partial(peer_run, test=words[0])}
        if pgmpy.installed():
            these["pgmpy"] = partial(pgmpy.pgmpy_run, alpha=ALPHA, test=words[1])
        if test == "g2":
            these["hill climbing, columns shuffled"] = hill.hill_run
        if test == "g2" and bnlearn.installed():
            these["bnlearn"] = partial(bnlearn.bnlearn_run, alpha=ALPHA)
        print(f"\nFull PC with {title}, alpha = {ALPHA}, n = 100,000")
        print(f"CPU seconds: median of {repeats} (least to most)\n{HEAD}")
        rows = list(compared(test, these, repeats, names))
        if write:
            put(PAGE, f"benchmarks.speed {test}", "\n".join([HEAD, *rows]))


def compared(
    statistic: str, peers: dict[str, PeerRun], repeats: int, names: Sequence[str]
) -> Iterator[str]:
    """One statistic: everybody's CPU seconds, median and range, and F1; printed as they come.

    For each peer, how many times ours its median is, and how many of the edges that either
    skeleton has are in both. The floor reads each test's columns once, and does nothing else.
    """
    for name in names:
        data = load_dataset(name)
        ours = [our_run(data, statistic) for _ in range(repeats)]
        mine, found = statistics.median(seconds for seconds, _ in ours), ours[0][1]
        own = f"| {name} | {floor(data, statistic):.3f} | {spread(ours)} | {f1(found, data):.3f} |"
        for peer, run_peer in peers.items():
            runs = several(run_peer, data, repeats)
            if not runs:
                line = f"{own} {peer} | none in {pgmpy.LIMIT} CPU-s | | | |"
            else:
                seconds, theirs = statistics.median(one[0] for one in runs), runs[0][1]
                line = f"{own} {peer} | {spread(runs)} | {f1(theirs, data):.3f} "
                line += f"| {seconds / mine:.0f} | {agreement(theirs, found):.3f} |"
            print(line, flush=True)
            yield line


def several(run_peer: PeerRun, data: Dataset, repeats: int) -> list[tuple[float, Adjacency]]:
    """A peer's runs: as many, or as fill BUDGET where they are slow."""
    runs: list[tuple[float, Adjacency]] = []
    while len(runs) < repeats and sum(seconds for seconds, _ in runs) < BUDGET:
        one = run_peer(data)
        if one is None:
            break
        runs.append(one)
    return runs


def floor(data: Dataset, statistic: str) -> float:
    """CPU seconds to read the columns of all tests of a run once each, rows folded."""
    rows = Store(data).rows
    result = run("pc", data, statistic=statistic, threshold=ALPHA, trace=False)
    column = np.ascontiguousarray(rows.codes[:, 0])
    read = best_of(lambda: [column.max() for _ in range(100)], 20) / 100
    return read * sum(k * tests for k, tests in enumerate(result.ci_tests_by_order, 2))


def spread(runs: Sequence[tuple[float, Adjacency]]) -> str:
    """The runs' seconds as "median (least–most)"; one alone as it is."""
    seconds = sorted(one[0] for one in runs)
    digits = 3 if seconds[0] < 1 else 1
    middle = f"{statistics.median(seconds):.{digits}f}"
    if len(runs) == 1:
        return f"{middle} (one run)"
    return f"{middle} ({seconds[0]:.{digits}f}–{seconds[-1]:.{digits}f})"


def every_algorithm() -> None:
    """Section 3."""
    print("\nEvery algorithm at its defaults, n = 100,000 (seconds: nothing counted / counted)")
    print(f"  {'':16}" + "".join(f"{name:>18}" for name in SEVEN))
    datasets = {name: load_dataset(name) for name in SEVEN}
    for key in ALGORITHMS:
        cells = []
        for name in SEVEN:
            copy = fresh(datasets[name])
            start = time.perf_counter()
            run(key, copy, trace=False)
            cold = time.perf_counter() - start
            repeats = 3 if cold < PATIENCE else 1
            warm = best_of(partial(run, key, copy, trace=False), repeats)
            cells.append(f"{cold:9.3f} /{warm:7.3f}")
        print(f"  {key:16}" + "".join(f"{c:>18}" for c in cells))


def main() -> None:
    """Print all sections."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--write", action="store_true", help="the peers' tables into the document")
    parser.add_argument("--peers-only", action="store_true", help="section 2 alone")
    parser.add_argument("--networks", default=",".join(PEERED), help="for the peers")
    options = parser.parse_args()
    repeats = options.repeats
    run("pc", load_dataset("asia"), statistic="g2")  # compiled code is read from disk here
    if not options.peers_only:
        one_test()
    full_pc(repeats, options.networks.split(","), write=options.write)
    if not options.peers_only:
        every_algorithm()


if __name__ == "__main__":
    main()
