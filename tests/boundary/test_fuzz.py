"""The fuzzer finds nothing, and it finds every fault that is planted."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from engine import runner
from engine.data import cell, intake, sources
from engine.data.dataset import Dataset
from engine.data.schema import Schema
from tests.boundary import fuzz
from tests.boundary.writers import Excel, PandasFrame, Text

CASES = 36


def test_neighbouring_files_are_read_charged_and_written_alike() -> None:
    found = fuzz.fuzz(seconds=600, most=CASES)
    assert not found.findings, found.findings[:5]
    assert found.counts["declared"] > CASES / 2
    for what in ("Text", "Excel", "Arrow", "Sqlite", "PandasFrame", "persons", "releases"):
        assert found.counts[what], what
    assert found.counts["runs that claim a finite ε"] > found.counts["runs that claim nothing"] > 0


# Faults, planted ------------------------------------------------------------------------


def exempt() -> AbstractContextManager[Any]:
    """A vote needs no schema."""
    ledger = runner._ledger

    def without(chosen: Any, data: Dataset, params: Any, seed: Any) -> Any:
        if chosen.key != "anm":
            return ledger(chosen, data, params, seed)
        return chosen.ledger(data, params)

    return mock.patch.object(runner, "_ledger", without)


def drafts_count() -> AbstractContextManager[Any]:
    """What a draft found in the rows is a declared schema."""
    return mock.patch.object(Schema, "waiting", ())


def without_blank_rows() -> AbstractContextManager[Any]:
    """A workbook's blank rows are no records."""
    usual = sources._sheet
    return mock.patch.object(sources, "_sheet", lambda path, label, _: usual(path, label, None))


def short_lines() -> AbstractContextManager[Any]:
    """A line has at most 100,000 characters."""
    usual = sources._text

    def text(*asked: Any) -> Any:
        sql, *more = usual(*asked)
        return sql.replace("max_line_size=4194304", "max_line_size=100000"), *more

    return mock.patch.object(sources, "_text", text)


@contextmanager
def two_readers() -> Iterator[None]:
    """A quotation mark sends the file to a reader that keeps the blanks around a cell."""
    staged, trimmed, careful = sources._staged, cell.trimmed, False

    def look(stack: Any, path: Path, *asked: Any) -> Any:
        nonlocal careful
        careful = b'"' in path.read_bytes()
        return staged(stack, path, *asked)

    def cut(text: str) -> str:
        return text if careful else trimmed(text)

    with mock.patch.object(sources, "_staged", look), mock.patch.object(cell, "trimmed", cut):
        yield


def two_rows() -> AbstractContextManager[Any]:
    """A number is a share of its column's largest."""
    usual = intake.Cell.of.__func__  # type: ignore[attr-defined]

    def scaled(cls: Any, table: Any, *args: Any) -> Any:
        cell = usual(cls, table, *args)
        most = f"(SELECT max({cell.number}) FROM {table.sql} WHERE isfinite({cell.number}))"
        return replace(cell, number=f"({cell.number} * 100 / {most})")

    return mock.patch.object(intake.Cell, "of", classmethod(scaled))


def guessed_types() -> AbstractContextManager[Any]:
    """The type of a frame's column follows from all of its cells."""
    return mock.patch.object(sources, "_WORDED", ())


def files_order() -> AbstractContextManager[Any]:
    """Of a person's visits on one day the file's first counts."""
    usual = intake._taken

    def taken(column: Any, j: int) -> str:
        return f"arg_max(e{j}, place)" if column.take == "last" else usual(column, j)

    return mock.patch.object(intake, "_taken", taken)


def rows_for_persons() -> AbstractContextManager[Any]:
    """Who comes on many days is counted many times."""
    usual = intake._counted

    def counted(con: Any, terms: Any, source: str) -> Any:
        return usual(con, terms, source.replace("GROUP BY person", "GROUP BY person, place"))

    return mock.patch.object(intake, "_counted", counted)


PLANTED: dict[str, tuple[Callable[[], AbstractContextManager[Any]], fuzz.Kind, Any]] = {
    "a vote is exempt from the schema": (exempt, fuzz.two_columns, Text),
    "a draft claims to be declared": (drafts_count, fuzz.found_in_rows, Text),
    "blank rows of a workbook vanish": (without_blank_rows, fuzz.declared, Excel),
    "a long cell": (short_lines, fuzz.declared, Text),
    "a reader strips what another keeps": (two_readers, fuzz.declared, Text),
    "a rule looks at two rows": (two_rows, fuzz.declared, Text),
    "types that follow from all cells": (guessed_types, fuzz.declared, PandasFrame),
    "a tie by the file's order": (files_order, fuzz.persons, Text),
    "rows for persons": (rows_for_persons, fuzz.persons, Text),
}


@pytest.mark.parametrize("fault", PLANTED)
def test_a_planted_fault_is_found(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plant, kind, shape = PLANTED[fault]
    make = shape.some if shape is Text else lambda chance: shape()
    monkeypatch.setattr(fuzz.writers, "form", make)
    monkeypatch.setattr(fuzz, "RUN", 0.0)
    monkeypatch.setattr(fuzz, "RELEASED", 0.0)
    assert not unplanted(kind, shape)
    with plant():
        found = fuzz.fuzz(seconds=600, most=60, kind=kind, stop=True)
    assert found.findings
    assert not re.search(r": \w*Error: ", found.findings[0])  # which is none of what is planted


@cache
def unplanted(kind: fuzz.Kind, shape: Any) -> list[str]:
    """What is found where nothing is planted, in the form that ``writers.form`` gives then."""
    return fuzz.fuzz(seconds=600, most=3, kind=kind).findings
