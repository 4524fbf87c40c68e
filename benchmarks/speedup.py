"""From one worker to two: ``python -m benchmarks.speedup [--write]``, on two idle cores.

A study of Priv-PC on two samples of Child is run from nothing by this process alone, by two threads
of it, by two worker processes and by a Dask cluster of two workers that is there already: wall
seconds, CPU seconds of all processes, and how many times quicker than alone. The sizes say from
which on each pays. It refuses a machine that does something else: wall seconds would tell of that.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import psutil

from benchmarks.written import put
from engine import load_dataset
from engine.data.dataset import Dataset
from engine.studies.study import sweep
from engine.studies.trial import run_trial, study_of

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reference" / "performance.md"
KEY, EPSILONS = "priv_pc", (0.1, 0.3, 1.0, 3.0, 10.0)
SEEDS = (1, 10, 40)  # of each epsilon and sample: 10, 100 and 400 runs
BUSY = 0.5  # load beyond which the machine is not quiet
HEAD = (
    "| runs | alone | two threads | two processes | Dask, two workers |\n|---:|---:|---:|---:|---:|"
)


def samples() -> list[Dataset]:
    """Two tables of which nothing has been counted."""
    return [load_dataset("child", seed=seed) for seed in (0, 1)]


def swept(seeds: int, **where: object) -> None:
    """The study by the engine's own executors."""
    list(sweep(samples(), KEY, {"epsilon": EPSILONS}, seeds, **where))  # type: ignore[arg-type]


def threaded(seeds: int) -> None:
    """The study by two threads, a sample each."""
    study = study_of(samples(), KEY, {"epsilon": EPSILONS}, seeds)

    def of(identity: str) -> None:
        for cell in study.cells:
            if cell.fingerprint == identity:
                run_trial(study.datasets[identity], cell)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(of, study.datasets))


@contextmanager
def cluster() -> Iterator[str]:
    """The address of two workers that have imported the engine."""
    import distributed

    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50
    ) as made:
        swept(1, executor=made.scheduler_address)
        yield made.scheduler_address


def cpu_seconds() -> float:
    """Of this process, its children that live and those that ended."""
    mine = os.times()
    alive = psutil.Process().children(recursive=True)
    used = [child.cpu_times() for child in alive]
    return float(sum(mine[:4]) + sum(u.user + u.system for u in used))


def measured(action: Callable[[int], None], seeds: int) -> tuple[float, float]:
    """(wall, CPU) seconds."""
    start, before = time.perf_counter(), cpu_seconds()
    action(seeds)
    return time.perf_counter() - start, cpu_seconds() - before


def rows(sizes: Sequence[int], address: str) -> Iterator[str]:
    """A line of the table for each size, printed as it comes."""
    swept(1)  # kernels are read from disk here
    ways: tuple[Callable[[int], None], ...] = (
        threaded,
        lambda seeds: swept(seeds, executor="processes", workers=2),
        lambda seeds: swept(seeds, executor=address),
    )
    for seeds in sizes:
        alone, spent = measured(swept, seeds)
        cells = [f"{alone:.2f} s, {spent:.1f} CPU-s"]
        for way in ways:
            wall, used = measured(way, seeds)
            cells.append(f"{wall:.2f} s, {used:.1f} CPU-s, {alone / wall:.2f} ×")
        line = f"| {2 * len(EPSILONS) * seeds:,} | {' | '.join(cells)} |"
        print(line, flush=True)
        yield line


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="into the document")
    parser.add_argument("--loaded", action="store_true", help="measure on a busy machine too")
    parser.add_argument("--seeds", type=int, nargs="+", default=list(SEEDS))
    given = parser.parse_args()
    if os.getloadavg()[0] > BUSY and not given.loaded:
        sys.exit(f"The load is {os.getloadavg()[0]:.1f}: wall seconds would tell of that.")
    print(HEAD)
    with cluster() as address:
        lines = list(rows(given.seeds, address))
    if given.write:
        put(PAGE, "benchmarks.speedup", "\n".join([HEAD, *lines]))


if __name__ == "__main__":
    main()
