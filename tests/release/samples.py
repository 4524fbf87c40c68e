"""What the tests of releases share: Asia as a person's own data, and its schema."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from engine import Budget, Dataset, Knowledge, load_dataset
from engine.data.schema import Column, Schema
from engine.release.budget import Budgets
from engine.release.file import Release

ROWS = 5_000
KNOWN = Knowledge(
    tiers=[["asia", "smoke"], ["tub", "lung", "bronc", "either"], ["xray", "dysp"]],
    forbidden=[("bronc", "lung"), ("lung", "bronc")],
)


def asia_schema(rows: int = ROWS) -> Schema:
    data = load_dataset("asia", n=2)
    return Schema(
        tuple(
            Column(name=name, type="unordered", levels=levels)
            for name, levels in zip(data.names, data.levels, strict=True)
        ),
        rows=rows,
    )


def own_asia(n: int = ROWS, seed: int = 1) -> Dataset:
    """The same rows as private data with a declared schema."""
    data = load_dataset("asia", n=n, seed=seed)
    return Dataset.from_codes(data.codes, data.names, data.levels)


def schema_of(*sizes: int) -> Schema:
    """Columns a, b, c with so many levels."""
    levels = [tuple(map(str, range(size))) for size in sizes]
    named = zip("abcdefgh", levels, strict=False)
    return Schema(tuple(Column(name=n, type="ordered", levels=some) for n, some in named))


def make(
    data: Dataset, schema: Schema, key: str, values: Any, name: str, budgets: Budgets, **more: Any
) -> Release:
    """A release that the budget ``name`` pays, of codes that belong to the schema."""
    budget, own = Budget(name, path=budgets.path), replace(data, schema=schema)
    return budget.release(own, algorithm=key, **values, **more).release
