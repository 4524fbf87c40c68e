"""The short form of ``make soak``: the checks of a long day, in seconds."""

import subprocess
import sys
from pathlib import Path

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
