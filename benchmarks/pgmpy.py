"""pgmpy's PC beside ours, where its packages are in a folder of their own.

``pip install pgmpy==1.1.2 --target FOLDER`` and ``PGMPY=FOLDER make bench``: it takes 500 MB and
other versions than the project's, so nothing here installs it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from engine.data.dataset import Dataset
from engine.graphs.cpdag import Adjacency

PLACE = "PGMPY"
MISSING = (
    "pgmpy has no column: pip install pgmpy==1.1.2 --target FOLDER, and PGMPY=FOLDER make bench."
)
LIMIT = 240.0  # seconds that it gets for one network
_SCRIPT = Path(__file__).resolve().parent / "pgmpy_table.py"


def installed() -> bool:
    """Whether the folder is named and holds it."""
    return (Path(os.environ.get(PLACE) or "nowhere") / "pgmpy").is_dir()


def pgmpy_run(data: Dataset, alpha: float, test: str) -> tuple[float, Adjacency] | None:
    """PC-stable's CPU seconds and skeleton (d, d) on the same codes; None past the limit."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "in.npz", Path(folder) / "out.npz"
        np.savez(source, codes=data.row_codes(), alpha=alpha, test=test)
        command = [sys.executable, str(_SCRIPT), str(source), str(target)]
        # Not this project's modules: one of them is called as the package is.
        env = {**os.environ, "PYTHONPATH": os.environ[PLACE], "PYTHONSAFEPATH": "1"}
        try:
            subprocess.run(command, check=True, capture_output=True, timeout=LIMIT, env=env)
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
            return None
        made = np.load(target)
        return float(made["seconds"]), made["skeleton"]
