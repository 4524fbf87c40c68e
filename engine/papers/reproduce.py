"""``python -m engine reproduce NAME --out DIR``: the papers' tables and figures, with our numbers.

Every reproduction runs the published forms at the paper's settings, puts the paper's numbers beside
ours, scores against the true graph and against non-private PC's output (the papers' "ground truth"
is a learned graph), and reports the total that the paper claims and the one that can be defended.
Runs go through :func:`engine.studies.study` and a store in the folder, so that an interrupted
reproduction resumes.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from engine.errors import InputError, did_you_mean
from engine.papers.curate import (
    curate_figure3,
    curate_figure4,
    curate_table5,
    curate_table6,
    curate_table7,
)
from engine.papers.knowledge import knowledge_study
from engine.papers.pairs import pairs_accuracy, pairs_table2
from engine.papers.priv_pc import figure1, table2, table3
from engine.papers.report import Work

STUDIES: dict[str, Callable[[Work], None]] = {
    "figure1": figure1,
    "table2": table2,
    "table3": table3,
    "curate-table5": curate_table5,
    "curate-table6": curate_table6,
    "curate-table7": curate_table7,
    "curate-figure3": curate_figure3,
    "curate-figure4": curate_figure4,
    "pairs-table2": pairs_table2,
    "pairs-accuracy": pairs_accuracy,
    "knowledge": knowledge_study,
}


def reproduce(name: str, work: Work) -> list[Path]:
    """Run one reproduction; the files it wrote. Raises InputError for an unknown name."""
    if name not in STUDIES:
        raise InputError(
            f"There is nothing called {name!r} to reproduce; there are {', '.join(STUDIES)}."
            f"{did_you_mean(name, STUDIES)}"
        )
    try:
        work.out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{work.out} cannot be made a folder: {error.strerror}.") from None
    STUDIES[name](work)
    return work.written
