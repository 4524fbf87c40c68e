"""The time that Priv-PC's Figure 1 takes from an empty store.

2,205 runs: 7 networks x EM-PC, SVT-PC, Priv-PC x 21 epsilons x 5 seeds at n = 100,000. Warm start:
numba's kernels are compiled; no table has been counted.

The floor is the time that the same results need at least: the draws themselves. Every round of
Priv-PC draws a fresh sample, a hypergeometric number for each cell of the tables asked for.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from pathlib import Path
from typing import Any
from unittest.mock import patch

from joblib.externals.loky import get_reusable_executor

from engine import load_dataset, run
from engine.papers.priv_pc import FIGURE1_EPSILONS, PRIV_PC
from engine.papers.published import PRIV_PC_NETWORKS
from engine.papers.reproduce import reproduce
from engine.papers.work import Work
from engine.tables import store


def cpu_seconds() -> tuple[float, float]:
    """Return the seconds that this process and its ended children have used."""
    mine, theirs = (
        resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    return mine.ru_utime + mine.ru_stime, theirs.ru_utime + theirs.ru_stime


def draws() -> tuple[int, float]:
    """(cells drawn, CPU seconds in the generator's loop) of Priv-PC's runs with one seed."""
    cells, seconds = 0, 0.0

    def timed(parts: Any, drawn: Any, *source: Any, split: Any = store.split) -> Any:
        nonlocal cells, seconds
        start = time.thread_time()
        out = split(parts, drawn, *source)
        seconds += time.thread_time() - start
        cells += int((drawn > 0).sum()) * parts.shape[1]
        return out

    with patch.object(store, "split", timed):
        for network in PRIV_PC_NETWORKS:
            for epsilon in FIGURE1_EPSILONS:
                data = load_dataset(network)
                values: dict[str, Any] = {**PRIV_PC, "epsilon": epsilon}
                run("priv_pc", data, seed=0, trace=False, **values)
    return cells, seconds


def main() -> None:
    """Print the seconds, and those of the draws alone."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--workers", type=int, default=2)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        start, before = time.perf_counter(), cpu_seconds()
        reproduce("figure1", Work(Path(folder), seeds=args.seeds, workers=args.workers))
        ours = time.perf_counter() - start
        get_reusable_executor().shutdown()  # only ended children are counted
        used = [now - then for now, then in zip(cpu_seconds(), before, strict=True)]
    runs = 7 * 3 * 21 * args.seeds
    print(f"Priv-PC, figure 1: {runs:,} runs at n = 100,000, empty store, {args.workers} workers")
    print(f"  ours                                 {ours:12.1f} s")
    print(f"  CPU seconds, starts included         {sum(used):12.1f} s")
    print(f"    the workers, and this process      {used[1]:12.1f} s, {used[0]:.1f} s")
    most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"    peak memory of a worker            {most:12.0f} MB")
    cells, seconds = draws()
    print(
        f"  the floor: {cells * args.seeds / 1e6:6.1f} million draws         "
        f"{seconds * args.seeds:12.1f} s   {cells / seconds / 1e6:.1f} million a CPU second"
    )


if __name__ == "__main__":
    main()
