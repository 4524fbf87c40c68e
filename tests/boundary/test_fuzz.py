"""The fuzzer finds nothing, and it finds every fault that is planted."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from typing import Any
from unittest import mock

import pytest

from engine import runner
from engine.data import delimited, doors, persons, reading, tally
from engine.data.dataset import Dataset
from engine.data.schema import Column, Schema
from engine.errors import DataError
from tests.boundary import fuzz
from tests.boundary.writers import Excel, PandasFrame, Text

CASES = 120


def test_neighbouring_files_are_read_charged_and_written_alike() -> None:
    found = fuzz.fuzz(seconds=600, most=CASES)
    assert not found.findings, found.findings[:5]
    assert found.counts["declared"] > CASES / 2
    forms = ("Text", "Excel", "Parquet", "Sqlite", "PandasFrame")
    for what in (*forms, "folded", "persons", "releases"):
        assert found.counts[what], what
    assert found.counts["runs that claim a finite ε"] > found.counts["runs that claim nothing"] > 0


# Faults, planted ------------------------------------------------------------------------


def exempt() -> AbstractContextManager[Any]:
    """Fault 1: a vote needs no schema."""
    ledger = runner._ledger

    def without(chosen: Any, data: Dataset, params: Any, seed: Any) -> Any:
        if chosen.key != "anm":
            return ledger(chosen, data, params, seed)
        return chosen.ledger(data, params)

    return mock.patch.object(runner, "_ledger", without)


def by_rules() -> AbstractContextManager[Any]:
    """Fault 2: levels and cut points for every column are a declared schema."""
    usual = reading._dataset

    def claimed(batches: Any, rules: Any, *rest: Any) -> Dataset:
        data = usual(batches, rules, *rest)
        if {*rules.levels, *rules.edges} >= set(data.names):
            columns = zip(data.names, data.levels, strict=True)
            stated = [Column(name=n, type="ordered", levels=levels) for n, levels in columns]
            object.__setattr__(data, "schema", Schema(tuple(stated)))
        return data

    return mock.patch.object(reading, "_dataset", claimed)


def without_blank_rows() -> AbstractContextManager[Any]:
    """Fault 3: a workbook's blank rows are no records."""
    return mock.patch.object(tally.Batches, "stated", lambda self, rows: self.filled())


def any_line_end() -> AbstractContextManager[Any]:
    """Fault 3: a bare carriage return ends a line, whatever the others end in."""

    def opened(found: Any, last: str = "") -> Any:
        return io.BytesIO(found.open().read() + f"\n{last}\n".encode() * bool(last))

    return mock.patch.object(delimited, "one_line_end", opened)


def spaced_twice() -> AbstractContextManager[Any]:
    """Fault 4: the careful reader's cells are judged by the fast one's rule."""
    usual = tally.Batches

    def spaced(*args: Any, **facts: Any) -> Any:
        return usual(*args, **{**facts, "spaced": True})

    return mock.patch.object(delimited, "Batches", spaced)


@contextmanager
def short_cells() -> Iterator[None]:
    """Fault 4: a cell has at most 131,072 characters."""
    limit = csv.field_size_limit(131_072)
    try:
        yield
    finally:
        csv.field_size_limit(limit)


def no_nul() -> AbstractContextManager[Any]:
    """Fault 4: a NUL is no text."""
    usual = tally._plain

    def plain(word: str) -> str:
        if "\0" in word:
            raise DataError("not a text file")
        return usual(word)

    return mock.patch.object(tally, "_plain", plain)


def guessed_types() -> AbstractContextManager[Any]:
    """A sibling: the type of a frame's column follows from all of its cells."""
    return mock.patch.object(doors, "_typed", lambda source: source)


def whole_as_float() -> AbstractContextManager[Any]:
    """A sibling: a number is written by the type of its column."""
    return mock.patch.object(tally, "number_text", repr)


def files_order() -> AbstractContextManager[Any]:
    """Fault 5: of a person's visits on one day the file's first counts."""
    usual = persons._single

    def single(column: Column, key: str) -> str:
        return f"arg_max({key}, place)" if column.take == "last" else usual(column, key)

    return mock.patch.object(persons, "_single", single)


def rows_for_persons() -> AbstractContextManager[Any]:
    """Fault 5: who has many rows is counted many times."""
    usual = persons.person_rows

    def rows(*args: Any) -> Iterator[Any]:
        for k, part in enumerate(usual(*args)):
            ids = [f"{who} {k} {i}" for i, who in enumerate(part["id"].to_pylist())]
            yield part.set_column(0, "id", [ids])

    return mock.patch.object(persons, "person_rows", rows)


PLANTED: dict[str, tuple[Callable[[], AbstractContextManager[Any]], fuzz.Kind, Any]] = {
    "1, a vote is exempt from the schema": (exempt, fuzz.two_columns, Text),
    "2, cut points alone claim to be declared": (by_rules, fuzz.found_in_rows, Text),
    "3, blank rows of a workbook vanish": (without_blank_rows, fuzz.declared, Excel),
    "3, a bare carriage return ends a line": (any_line_end, fuzz.declared, Text),
    "4, a quotation mark begins a cell": (spaced_twice, fuzz.declared, Text),
    "4, a long cell": (short_cells, fuzz.declared, Text),
    "4, a NUL": (no_nul, fuzz.declared, Text),
    "types that follow from all cells": (guessed_types, fuzz.declared, PandasFrame),
    "5, a tie by the file's order": (files_order, fuzz.persons, Text),
    "5, rows for persons": (rows_for_persons, fuzz.persons, Text),
    "numbers written by their type": (whole_as_float, fuzz.declared, PandasFrame),
}


@pytest.mark.parametrize("fault", PLANTED)
def test_a_planted_fault_is_found(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plant, kind, shape = PLANTED[fault]
    make = shape.some if shape is Text else lambda chance: shape()
    monkeypatch.setattr(fuzz, "form", make)
    monkeypatch.setattr(fuzz, "RUN", 0.0)
    monkeypatch.setattr(fuzz, "FOLDED", 0.0)
    monkeypatch.setattr(fuzz, "RELEASED", 0.0)
    assert not unplanted(kind, shape)
    with plant():
        found = fuzz.fuzz(seconds=600, most=400, kind=kind, stop=True)
    assert found.findings


@cache
def unplanted(kind: fuzz.Kind, shape: Any) -> list[str]:
    """What is found where nothing is planted, in the form that ``fuzz.form`` gives then."""
    return fuzz.fuzz(seconds=600, most=40, kind=kind).findings
