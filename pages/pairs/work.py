"""The long work of this page, for a process that knows nothing of Streamlit."""

from __future__ import annotations

from collections.abc import Sequence

from engine import Dataset
from engine.pairs.decision import Setting
from engine.teaching.pairwise import picture
from pages.worker import Tell


def pictures(tell: Tell, datasets: Sequence[Dataset], setting: Setting) -> None:
    """Everything exact of each pair; a part is (its name, its picture)."""
    for done, data in enumerate(datasets):
        if tell(done / len(datasets), f"{done} of {len(datasets)} pairs"):
            return
        tell(part=(data.name, picture(data, setting, 0)))
