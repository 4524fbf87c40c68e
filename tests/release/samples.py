"""Shared by the tests of releases: Asia as private data, its schema, charged releases."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

from engine import Budget, Dataset, Knowledge, load_dataset
from engine.data.schema import Column, Schema
from engine.release.budget import Budgets
from engine.release.file import Release

ROWS = 5_000
KNOWN = Knowledge(
    tiers=[["asia", "smoke"], ["tub", "lung", "bronc", "either"], ["xray", "dysp"]],
    forbidden=[("bronc", "lung"), ("lung", "bronc")],
)


RELEASE = "release --csv a.csv --schema s.json --budget ward --epsilon 1 --out"


class Ran(NamedTuple):
    """What a command left: its status, and what it printed."""

    status: int
    out: str
    err: str


Typed = Callable[[str], Ran]


def declared(data: Dataset, kind: str = "unordered") -> Schema:
    """The columns and levels of a dataset as somebody states them."""
    named = zip(data.names, data.levels, strict=True)
    return Schema(tuple(Column(name=name, type=kind, levels=some) for name, some in named))


def asia_schema(rows: int = ROWS) -> Schema:
    return replace(declared(load_dataset("asia", n=2)), rows=rows)


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
    budgets: Budgets,
    data: Dataset | None = None,
    schema: Schema | None = None,
    *,
    name: str = "asia",
    **asked: Any,
) -> Release:
    """A release of codes that belong to the schema, or of Asia; a budget that is new has room."""
    if name not in {each.name for each in budgets.all()}:
        budgets.new(name, 10_000, 0.1)
    own = replace(own_asia() if data is None else data, schema=schema or asia_schema())
    return Budget(name, path=budgets.path).release(own, **asked).release
