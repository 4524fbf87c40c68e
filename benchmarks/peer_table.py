"""One synthetic table from a peer's package: ``python peer_table.py in.npz out.npz``.

Runs under the peers' own interpreter (requirements-peers.txt pins an older numpy than the project),
so it imports nothing of the project. ``in.npz`` holds codes (n, d), cardinalities (d,), method
("mst" or "aim"), epsilon, delta and seed; ``out.npz`` gets codes (n, d) and seconds.
"""

from __future__ import annotations

import sys
import time

import numpy as np
import pandas as pd
from dpmm.models.aim import AIMGM
from dpmm.models.mst import MSTGM


def main(source: str, target: str) -> None:
    """Fit and draw as many rows as came in."""
    given = np.load(source)
    codes, method = given["codes"].astype(int), str(given["method"])
    names = [f"v{i}" for i in range(codes.shape[1])]
    domain = dict(zip(names, map(int, given["cardinalities"]), strict=True))
    state = np.random.RandomState(int(given["seed"]))
    model = {"mst": MSTGM, "aim": AIMGM}[method]
    start = time.perf_counter()
    fitted = model(
        epsilon=float(given["epsilon"]), delta=float(given["delta"]), domain=domain, n_jobs=1
    )
    fitted.set_random_state(state)
    fitted.set_domain(domain)
    fitted.fit(pd.DataFrame(codes, columns=names))
    table = fitted.generate(n_records=len(codes))
    seconds = time.perf_counter() - start
    np.savez(target, codes=table[names].to_numpy(dtype=np.int64), seconds=seconds)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
