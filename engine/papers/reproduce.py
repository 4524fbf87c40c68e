"""``python -m engine reproduce NAME --out DIR``: reproduce the papers' tables and figures.

Every reproduction runs the published forms at the paper's settings. It writes its runs, its figures
and its rows of the common table into the folder; ``table`` writes that table from the folder.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path

from engine.errors import InputError, did_you_mean
from engine.papers.curate import (
    curate_figure3,
    curate_figure4,
    curate_table5,
    curate_table6,
    curate_table7,
)
from engine.papers.pairs import pairs_accuracy, pairs_figure1, pairs_figure2, pairs_table2
from engine.papers.priv_pc import figure1, figure1_forms, figure1_gaussian, table2, table3
from engine.papers.published import AUTHORS_LISTS
from engine.papers.table import Measured, Row, document, load, save
from engine.papers.theorems import theorems
from engine.papers.work import Work, arc_f1, authors_list, network
from engine.result import reference_of

STUDIES: dict[str, Callable[[Work], list[Row]]] = {
    "theorems": theorems,
    "figure1": figure1,
    "figure1-forms": figure1_forms,
    "figure1-gaussian": figure1_gaussian,
    "table2": table2,
    "table3": table3,
    "curate-table5": curate_table5,
    "curate-table6": curate_table6,
    "curate-table7": curate_table7,
    "curate-figure3": curate_figure3,
    "curate-figure4": curate_figure4,
    "pairs-table2": pairs_table2,
    "pairs-figure1": pairs_figure1,
    "pairs-figure2": pairs_figure2,
    "pairs-accuracy": pairs_accuracy,
}
TABLE = "table"
NAMES = (*STUDIES, TABLE)


def reproduce(name: str, work: Work) -> list[Path]:
    """Run one reproduction and return the files written. Raises InputError for an unknown name."""
    if name not in NAMES:
        raise InputError(
            f"There is nothing called {name!r} to reproduce; there are {', '.join(NAMES)}."
            f"{did_you_mean(name, NAMES)}"
        )
    try:
        work.out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{work.out} cannot be made a folder: {error.strerror}.") from None
    if name == TABLE:
        work.write("reproduction.md", page(load(work.out, STUDIES), work.n))
    else:
        start = time.process_time()
        rows = tuple(STUDIES[name](work))
        seconds = work.seconds + time.process_time() - start
        work.written.append(save(work.out, name, Measured(round(seconds, 1), rows)))
    return work.written


def page(measured: Mapping[str, Measured], n: int) -> str:
    """Write the page about the measured runs."""
    truths = {name: network(name, 2) for name in AUTHORS_LISTS}
    perfect = {
        name: arc_f1(reference_of("pc", data.truth, data.names, None), authors_list(name))
        for name, data in truths.items()
    }
    return document(measured, n, perfect)
