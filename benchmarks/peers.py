"""Synthetic tables of two peers: MST by :mod:`benchmarks.mst`, and MST and AIM by their package.

``dpmm`` (SAS; it carries the authors' private-pgm code) pins an older numpy and Python below 3.12,
so `make bench-utility` installs requirements/peers.txt next to the project's environment and this
module calls it there. Where that is not possible its columns are left out.
"""

from __future__ import annotations

import math
import os
import subprocess
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from benchmarks.mst import mst_table
from engine.data.dataset import Dataset
from engine.privacy.accounting import Guarantee

OWN, PACKAGED = "mst", ("mst_dpmm", "aim")
_HERE = Path(__file__).resolve().parent
PYTHON = Path(os.environ.get("PEERS_PYTHON", _HERE.parent / ".venv-peers" / "bin" / "python"))


@dataclass(frozen=True)
class SyntheticTable:
    """A synthetic dataset of the same schema and size, and how long it took."""

    data: Dataset
    seconds: float


def methods() -> tuple[str, ...]:
    """Those that can be run: the package's only where its environment is there."""
    return (OWN, *PACKAGED) if PYTHON.exists() else (OWN,)


def same_neighbours(total: Guarantee) -> Guarantee:
    """The add/remove guarantee that is ``total`` for replaced records.

    A replacement is a removal and an addition: (e, d) for each gives (2 e, (1 + e^e) d).
    """
    half = total.epsilon / 2
    return Guarantee(half, total.delta / (1 + math.exp(half)))


def synthetic(
    method: str, data: Dataset, total: Guarantee, seed: int, timeout: float | None = None
) -> SyntheticTable | None:
    """As many rows as there are from the method's model; None where it fails or takes too long.

    ``total`` is for neighbours that differ by one added or removed record.
    """
    if method == OWN:
        start = time.perf_counter()
        table = mst_table(data, total, seed)
        return SyntheticTable(table, time.perf_counter() - start)
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "in.npz", Path(folder) / "out.npz"
        np.savez(
            source,
            codes=data.codes,
            cardinalities=data.cardinalities,
            method=method,
            epsilon=total.epsilon,
            delta=total.delta,
            seed=seed,
        )
        command = [str(PYTHON), str(_HERE / "peer_table.py"), str(source), str(target)]
        try:
            subprocess.run(command, check=True, capture_output=True, timeout=timeout)
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
            return None
        made = np.load(target)
        codes, seconds = np.asfortranarray(made["codes"].astype(data.codes.dtype)), made["seconds"]
    codes.flags.writeable = False
    return SyntheticTable(replace(data, codes=codes), float(seconds))
