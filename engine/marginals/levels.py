"""Columns of many levels, merged by a rule that reads the schema alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from engine.data.dataset import Dataset
from engine.tables.store import store_of

# A test of columns of a and b levels inverts a matrix of (a - 1)(b - 1) rows: at most 121.
MOST_LEVELS = 12


def groups(levels: int, most: int = MOST_LEVELS) -> np.ndarray:
    """(levels,): the group of each level, at most ``most`` runs of neighbours of equal length.

    Level k of r goes to group floor(k most / r): no record is looked at, so merging is part of the
    public schema and every sensitivity is that of the merged table.
    """
    return np.arange(levels) * min(levels, most) // levels


def merged(data: Dataset, most: int = MOST_LEVELS) -> Dataset:
    """Merge levels until no column has more than ``most``; the dataset itself if none has."""
    if max(data.cardinalities) <= most:
        return data
    return store_of(data).keep(("merged levels", most), lambda: _merge(data, most))


def _merge(data: Dataset, most: int) -> Dataset:
    codes, levels = np.array(data.codes, order="F"), []
    for i, names in enumerate(data.levels):
        group = groups(len(names), most)
        codes[:, i] = group[data.codes[:, i]]
        runs = [np.flatnonzero(group == g) for g in range(group[-1] + 1)]
        levels.append(tuple(_run_name(names[r[0]], names[r[-1]]) for r in runs))
    codes.flags.writeable = False
    return replace(data, codes=codes, levels=tuple(levels), schema=None)  # it was charged before


def _run_name(first: str, last: str) -> str:
    return first if first == last else f"{first} to {last}"
