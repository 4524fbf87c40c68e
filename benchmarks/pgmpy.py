"""pgmpy's PC compared with ours, where its packages are in a separate folder.

``pip install pgmpy==1.1.2 --target FOLDER`` and ``PGMPY=FOLDER make bench``: it takes 500 MB and
other versions than the project's, so nothing here installs it.
"""

from __future__ import annotations

import os
import resource
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
LIMIT = 240  # CPU seconds that it gets for one network
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
            subprocess.run(command, check=True, capture_output=True, env=env, preexec_fn=_bound)
        except subprocess.CalledProcessError:
            return None
        made = np.load(target)
        return float(made["seconds"]), made["skeleton"]


def _bound() -> None:
    """In the new process: an end after LIMIT, however busy the machine is."""
    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT))
