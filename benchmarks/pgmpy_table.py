"""pgmpy's PC on one table: ``python pgmpy_table.py in.npz out.npz``.

Runs with the packages of a separate folder (``pip install pgmpy==1.1.2 --target FOLDER``), which
pin other versions than the project, so it imports nothing of the project. ``in.npz`` holds codes
(n, d), alpha and test ("g_sq" or "chi_square"); ``out.npz`` gets skeleton (d, d) and CPU seconds.
"""

from __future__ import annotations

import sys
import time

import numpy as np
import pandas as pd
from pgmpy.estimators import PC


def main(source: str, target: str) -> None:
    """PC-stable's skeleton, one process; orders go as far as the data let them."""
    given = np.load(source)
    codes = given["codes"]
    names = [f"v{j}" for j in range(codes.shape[1])]
    rows = pd.DataFrame(
        {name: pd.Categorical(column) for name, column in zip(names, codes.T, strict=True)}
    )
    start = time.process_time()
    graph, _ = PC(rows).estimate(
        variant="stable",
        ci_test=str(given["test"]),
        return_type="skeleton",
        significance_level=float(given["alpha"]),
        max_cond_vars=len(names),
        n_jobs=1,
        show_progress=False,
    )
    seconds = time.process_time() - start
    skeleton = np.zeros((len(names), len(names)), bool)
    for a, b in graph.edges():
        i, j = names.index(a), names.index(b)
        skeleton[i, j] = skeleton[j, i] = True
    np.savez(target, skeleton=skeleton, seconds=seconds)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
