"""The long work of this page, for a process without Streamlit."""

from __future__ import annotations

from collections.abc import Sequence

from engine import Dataset
from engine.data.pairs import read_pair, read_tuebingen
from engine.pairs.decision import Setting
from engine.teaching.pairwise import picture
from pages.worker import Reporter, Upload

Bounds = tuple[tuple[float, float], tuple[float, float]]


def pictures(monitor: Reporter, datasets: Sequence[Dataset], setting: Setting) -> None:
    """Send all exact numbers and curves of each pair as parts (name, picture)."""
    for done, data in enumerate(datasets):
        monitor.tell(done / len(datasets), f"{done} of {len(datasets)} pairs")
        if monitor.stopped():
            return
        monitor.part((data.name, picture(data, setting, 0)))


def pair(monitor: Reporter, file: Upload, bounds: Bounds | None) -> Dataset:
    """Read two columns of numbers."""
    return read_pair(file.open(), bounds, monitor)


def tuebingen(monitor: Reporter, file: Upload) -> tuple[Dataset, ...]:
    """Return the pairs of a user's copy."""
    return read_tuebingen(file.open())
