"""The short form of ``make soak``: what a long day shows, in seconds."""

import subprocess
import sys
from pathlib import Path

from benchmarks.soak import spread

ROOT = Path(__file__).resolve().parent.parent
# A process of its own: what other tests left in memory is no part of it.
CODE = """
import engine, gc, psutil
for k in range(5):
    engine.run("priv_pc", engine.load_dataset("child", n=5_000, seed=k), epsilon=1.0, max_order=1)
    gc.collect()
    print(psutil.Process().memory_info().rss / 1e6)
"""


def test_many_runs_leave_the_memory_flat():
    """A store and a trace that stayed with each dataset would be 2.1 MB a run: 6 MB more."""
    said = subprocess.check_output([sys.executable, "-c", CODE], cwd=ROOT, text=True)
    _, early, *_, late = map(float, said.split())
    assert late - early < 3


def test_the_spread_of_several_soaks_is_a_table():
    soaks = [{"median s": 0.3, "errors": 0.0}, {"median s": 0.1}, {"median s": 0.25, "errors": 1.0}]
    assert spread(soaks).splitlines() == [
        "| median of 3 runs | | least | most |",
        "|---|---:|---:|---:|",
        "| median s | 0.25 | 0.1 | 0.3 |",
        "| errors | 0.5 | 0 | 1 |",
    ]
