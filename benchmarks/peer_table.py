"""One synthetic table from a peer's package: ``python peer_table.py in.npz out.npz``.

Runs under the peers' own interpreter (requirements/peers.txt pins an older numpy than the project),
so it imports nothing of the project. ``in.npz`` holds codes (n, d), cardinalities (d,), method
("mst_dpmm" or "aim"), epsilon, delta and seed; ``out.npz`` gets codes (n, d) and seconds.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np
import pandas as pd
from dpmm.models import mst
from dpmm.models.aim import AIMGM
from dpmm.models.base.mechanisms import mechanism

# MST's descent takes 2,500 steps to choose and 5,000 to fit, 50 s of CPU on five binary columns. On
# Cancer its loss is 43.718 after 800 steps and 43.709 after 2,000: nothing compared with the noise.
STEPS = 1_000


class Shorter(mechanism.FactoredInference):
    """The package's descent, stopped after STEPS."""

    def __init__(self, *args: Any, iters: int = STEPS, **settings: Any):
        super().__init__(*args, iters=min(iters, STEPS), **settings)


def main(source: str, target: str) -> None:
    """Fit and draw as many rows as came in."""
    given = np.load(source)
    codes, method = given["codes"].astype(int), str(given["method"])
    names = [f"v{i}" for i in range(codes.shape[1])]
    domain = dict(zip(names, map(int, given["cardinalities"]), strict=True))
    state = np.random.RandomState(int(given["seed"]))
    if method == "mst_dpmm":
        mst.FactoredInference = mechanism.FactoredInference = Shorter
    model = {"mst_dpmm": mst.MSTGM, "aim": AIMGM}[method]
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
