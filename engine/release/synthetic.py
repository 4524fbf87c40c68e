"""Synthetic rows drawn from a release, to tune and teach on, free of further charge.

The released graph is made a DAG. Every variable is drawn given its parents from the best linear
prediction of its contrasts by theirs, which the released one- and two-way tables determine. What
was not released (interactions of three and more) is not in them, and no record is.
"""

from __future__ import annotations

from collections.abc import Mapping

import networkx as nx
import numpy as np

from engine.data.dataset import Dataset
from engine.data.spreadsheets import table_csv
from engine.effects.effect import column_of
from engine.effects.outcome import level_of
from engine.errors import InputError, show
from engine.marginals.contrasts import Array, helmert
from engine.marginals.moments import Moments
from engine.randomness import Randomness
from engine.release.checking import checked
from engine.release.file import Release

MOST_ROWS = 1_000_000
LABEL = "A synthetic table drawn from a private release; no row of it is a record."


def synthetic(
    release: Release, rows: int, seed: int = 0, do: Mapping[str, str] | None = None
) -> Dataset:
    """Synthetic rows of a release's columns, none of them a record.

    Post-processing of the release: it costs nothing, and its seed need not be secret.

    Args:
        release: What :func:`engine.release.file.load` read; it is checked first.
        rows: How many, from 2.
        seed: Fixes them.
        do: Columns that are set, to one of their levels, whatever causes them otherwise; what they
            act on is drawn given that (do-sampling).

    Returns:
        A dataset of (rows, d) codes under the release's schema.

    Raises:
        InputError: For a file that does not hold, or another number of rows.

    Examples:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from engine import Budget, Schema, load_dataset
        >>> frame = load_dataset("cancer", n=1_000).to_frame()
        >>> schema = Schema.draft(frame).state(*frame.columns)
        >>> place = Path(tempfile.mkdtemp()) / "budgets.db"
        >>> ward = Budget("ward", epsilon=3, delta=1e-5, path=place)
        >>> release = ward.release(frame, schema).release
        >>> synthetic(release, rows=50).codes.shape
        (50, 5)
    """
    if not isinstance(rows, int | np.integer) or not 2 <= rows <= MOST_ROWS:
        raise InputError(f"A synthetic table has 2 to {MOST_ROWS:,} rows; {show(rows)} is not.")
    tables, rng = checked(release)[1], Randomness(seed)
    moments, levels = tables.tests.moments, tables.levels
    held: dict[int, int] = {}
    for name, level in (do or {}).items():
        node = column_of(release.names, name)
        held[node] = level_of(levels[node], name, level)
    dag = consistent_dag(release)
    dag.remove_edges_from([arc for node in held for arc in list(dag.in_edges(node))])
    codes = np.zeros((rows, len(release.names)), dtype=np.uint8)
    for node in nx.lexicographical_topological_sort(dag):
        parents = sorted(dag.predecessors(node))
        chances = _chances(moments, node, parents, codes)
        uniform = rng.uniform(rows)  # drawn for a column that is set too: the others stay the same
        drawn = (np.cumsum(chances, axis=1)[:, :-1] < uniform[:, None]).sum(axis=1)
        codes[:, node] = held.get(node, drawn)
    return Dataset.from_codes(
        codes,
        release.names,
        levels,
        name=f"synthetic table of {release.name}",
        truth=nx.relabel_nodes(dag, dict(enumerate(release.names))),
        public=True,
        notes=(LABEL, *(f"{name} was set to {level}." for name, level in (do or {}).items())),
    )


def synthetic_csv(
    release: Release, rows: int, seed: int = 0, do: Mapping[str, str] | None = None
) -> str:
    """Synthetic rows as a CSV file that the release's schema reads."""
    frame = synthetic(release, rows, seed, do).to_frame(release.schema)
    return table_csv(frame, release.schema.dialect)


def consistent_dag(release: Release) -> nx.DiGraph:
    """A DAG on the columns' positions with the release's edges; cycles of the CPDAG are broken."""
    matrix = release.matrix
    dag = nx.empty_graph(len(matrix), nx.DiGraph)
    directed, lines = matrix & ~matrix.T, np.triu(matrix & matrix.T)
    for a, b in (*np.argwhere(directed).tolist(), *np.argwhere(lines).tolist()):
        dag.add_edge(*((b, a) if nx.has_path(dag, b, a) else (a, b)))
    return dag


def _chances(moments: Moments, node: int, parents: list[int], codes: np.ndarray) -> Array:
    """(rows, levels): each row's probabilities of the node's levels given its parents' codes."""
    levels, mine = moments.cardinalities[node], moments.at[node]
    means = moments.means()
    expected = np.tile(means[mine], (len(codes), 1))
    if parents:
        theirs = np.concatenate([moments.at[p] for p in parents])
        mean = means[theirs]
        cross = moments.two[np.ix_(theirs, mine)] - np.outer(mean, means[mine])
        spread = moments.two[np.ix_(theirs, theirs)] - np.outer(mean, mean)
        noise = float(max(moments.noise_one.max(), moments.noise_two.max()))
        ridge = (1e-9 + noise**0.5) * np.eye(len(theirs))
        seen = np.hstack([helmert(moments.cardinalities[p])[codes[:, p]] for p in parents])
        expected += (seen - mean) @ np.linalg.solve(spread + ridge, cross)
    chances = np.maximum(1 / levels + expected @ helmert(levels).T, 1e-6)
    return np.asarray(chances / chances.sum(axis=1, keepdims=True))
