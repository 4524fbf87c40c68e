"""Priv-PC's Figure 1 from an empty store, beside the sum of the paper's seconds of a run.

2,205 runs: 7 networks x EM-PC, SVT-PC, Priv-PC x 21 epsilons x 5 seeds at n = 100,000. Warm start:
numba's kernels are compiled; nothing has been counted.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from engine.studies.papers import figure1_seconds
from engine.studies.report import Work
from engine.studies.reproduce import reproduce


def main() -> None:
    """Print our seconds beside the paper's."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--workers", type=int, default=2)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        reproduce("figure1", Work(Path(folder), seeds=args.seeds, workers=args.workers))
        ours = time.perf_counter() - start
    theirs = figure1_seconds(args.seeds)
    runs = 7 * 3 * 21 * args.seeds
    print(f"Priv-PC, figure 1: {runs:,} runs at n = 100,000, empty store, {args.workers} workers")
    print(f"  ours                                 {ours:12.1f} s")
    print(f"  the paper's seconds a run (table 2)  {theirs:12,.0f} s   {theirs / 86400:.0f} days")
    print(f"  ratio                                {theirs / ours:12,.0f}")


if __name__ == "__main__":
    main()
