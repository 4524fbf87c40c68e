"""Columns with many levels: releases refuse them, and runs merge levels by the schema only."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from engine.data.column import MOST_RELEASED
from engine.data.dataset import Dataset
from engine.data.schema import Schema
from engine.errors import InputError, show
from engine.tables.store import store_of


def check_levels(schema: Schema, *types: str) -> None:
    """Raise InputError if a column of these ``types`` (or any) has too many levels.

    Merging neighbours would join levels that the user declared as different.
    """
    for column in schema.columns:
        if column.size > MOST_RELEASED and (not types or column.type in types):
            raise InputError(
                f"The column {show(column.name)} has {column.size} levels, and at most "
                f"{MOST_RELEASED} can be used: merge levels in the schema "
                '("groups": {"north": ["Alta", "Oslo"]}), or give fewer cuts or bins.'
            )


def groups(levels: int, most: int = MOST_RELEASED) -> np.ndarray:
    """Return each level's group, (levels,): at most ``most`` runs of neighbours of equal length.

    Level k of r goes to group floor(k most / r). This reads no record, so merging is part of the
    public schema, and sensitivities are those of the merged table.
    """
    return np.arange(levels) * min(levels, most) // levels


def merged(data: Dataset, most: int = MOST_RELEASED) -> Dataset:
    """Merge levels until no column has more than ``most``; return the same dataset if all fit."""
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
    # its charge was made before
    return replace(data, codes=codes, levels=tuple(levels), schema=None)


def _run_name(first: str, last: str) -> str:
    return first if first == last else f"{first} to {last}"
