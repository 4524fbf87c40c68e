"""The short form of ``make soak``: what a long day shows, in seconds."""

import subprocess
import sys
from pathlib import Path

from benchmarks.soak import spread

ROOT = Path(__file__).resolve().parent.parent
# A process of its own: what other tests left in memory is no part of it.
CODE = "from benchmarks.soak import soak_runs; soak_runs(3); print(*soak_runs(12))"


def test_many_runs_leave_the_memory_flat():
    """A store and a trace that stayed with each dataset would be 2.6 MB a run: 23 MB more."""
    done = subprocess.run(
        [sys.executable, "-c", CODE], cwd=ROOT, capture_output=True, text=True, check=True
    )
    early, late = map(float, done.stdout.split())
    assert late - early < 22


def test_the_spread_of_several_soaks_is_a_table():
    soaks = [{"median s": 0.3, "errors": 0.0}, {"median s": 0.1}, {"median s": 0.25, "errors": 1.0}]
    assert spread(soaks).splitlines() == [
        "| median of 3 runs | | least | most |",
        "|---|---:|---:|---:|",
        "| median s | 0.25 | 0.1 | 0.3 |",
        "| errors | 0.5 | 0 | 1 |",
    ]
