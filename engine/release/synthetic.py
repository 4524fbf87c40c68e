"""Draw synthetic rows from a release, for tuning and teaching, without a further charge."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import networkx as nx
import numpy as np

from engine.data.column import Column
from engine.data.dataset import Dataset
from engine.data.spreadsheets import table_csv
from engine.effects.outcome import column_of, level_of
from engine.errors import InputError, show
from engine.randomness import Randomness
from engine.release.checking import checked
from engine.release.drawing import consistent_dag, drawn
from engine.release.file import Release

if TYPE_CHECKING:
    import pandas as pd

MOST_ROWS = 1_000_000
GOLDEN = (math.sqrt(5) - 1) / 2  # multiples of it, modulo 1, are spread evenly
LABEL = "A synthetic table drawn from a private release; no row of it is a record."


def synthetic(
    release: Release, rows: int, seed: int = 0, do: Mapping[str, str] | None = None
) -> Dataset:
    """Draw synthetic rows of a release's columns; no row is a record.

    This is post-processing: it costs no ε, and its seed need not be secret.

    Args:
        release: A release that was made or opened; it is checked first.
        rows: Number of rows, at least 2.
        seed: Seed of the rows.
        do: Columns set to one of their levels, regardless of their causes; their effects are drawn
            given that level (do-sampling).

    Returns:
        A dataset of (rows, d) codes under the release's schema.

    Raises:
        InputError: For an inconsistent file or an invalid number of rows.

    Examples:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from engine import Budget, Schema, load_dataset
        >>> frame = load_dataset("cancer", n=1_000).to_frame()
        >>> schema = Schema.draft(frame).declare(*frame.columns)
        >>> place = Path(tempfile.mkdtemp()) / "budgets.db"
        >>> ward = Budget("ward", epsilon=3, delta=1e-5, path=place)
        >>> release = ward.release(frame, schema).release
        >>> synthetic(release, rows=50).codes.shape
        (50, 5)
    """
    if not isinstance(rows, int | np.integer) or not 2 <= rows <= MOST_ROWS:
        raise InputError(f"A synthetic table has 2 to {MOST_ROWS:,} rows; {show(rows)} is not.")
    tables = checked(release).tables
    held: dict[int, int] = {}
    for name, level in (do or {}).items():
        node = column_of(release.names, name)
        held[node] = level_of(tables.levels[node], name, level)
    dag = consistent_dag(release.matrix)
    dag.remove_edges_from([arc for node in held for arc in list(dag.in_edges(node))])
    return Dataset.from_codes(
        drawn(tables.tests.moments, dag, rows, Randomness(seed), held),
        release.names,
        tables.levels,
        name=f"synthetic table of {release.name}",
        truth=nx.relabel_nodes(dag, dict(enumerate(release.names))),
        public=True,
        notes=(LABEL, *(f"{name} was set to {level}." for name, level in (do or {}).items())),
    )


def synthetic_csv(
    release: Release, rows: int, seed: int = 0, do: Mapping[str, str] | None = None
) -> str:
    """Return synthetic rows as CSV for the release's schema, with levels in place of groups."""
    frame = synthetic(release, rows, seed, do).to_frame(release.schema)
    for column in release.schema.columns:
        if column.groups:
            frame[column.name] = _ungrouped(frame[column.name], column)
    return table_csv(frame, release.schema.dialect)


def _ungrouped(cells: pd.Series, column: Column) -> np.ndarray:
    """Replace each group by its levels in their shares, evenly over the rows."""
    found = cells.astype(str).to_numpy(object)
    for name, group in column.groups:
        words, shares = zip(*group, strict=True)
        at = np.flatnonzero(cells == name)
        turns = np.arange(1, len(at) + 1) * GOLDEN % 1
        places = np.searchsorted(np.cumsum(shares) / sum(shares), turns)
        found[at] = np.array(words, object)[np.minimum(places, len(words) - 1)]
    return found
