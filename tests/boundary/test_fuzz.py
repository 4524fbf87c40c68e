"""The fuzzer finds nothing, and it finds every fault that is planted."""

import re
from contextlib import contextmanager
from dataclasses import replace
from unittest import mock

import pytest

from engine import runner
from engine.data import cell, intake, sources
from engine.data.schema import Schema
from tests.boundary import fuzz
from tests.boundary.writers import Excel, Folder, PandasFrame, Text

CASES = 36


def test_neighbouring_files_are_read_charged_and_written_alike():
    found = fuzz.fuzz(seconds=600, most=CASES)
    assert not found.findings, found.findings[:5]
    assert found.counts["declared"] > CASES / 2
    for what in (
        "Text",
        "Excel",
        "Arrow",
        "Folder",
        "Sqlite",
        "PandasFrame",
        "persons",
        "joined",
        "releases",
    ):
        assert found.counts[what], what
    assert found.counts["runs that claim a finite ε"] > found.counts["runs that claim nothing"] > 0


# Faults, planted ------------------------------------------------------------------------


def exempt():
    """A vote needs no schema."""
    ledger = runner._ledger

    def without(chosen, data, params, seed):
        if chosen.key != "anm":
            return ledger(chosen, data, params, seed)
        return chosen.ledger(data, params)

    return mock.patch.object(runner, "_ledger", without)


def drafts_count():
    """What a draft found in the rows is a declared schema."""
    return mock.patch.object(Schema, "waiting", ())


def without_blank_rows():
    """A workbook's blank rows are no records."""
    usual = sources._sheet
    return mock.patch.object(sources, "_sheet", lambda path, label, _: usual(path, label, None))


def short_lines():
    """A line has at most 100,000 characters."""
    usual = sources._text

    def text(*asked):
        sql, *more = usual(*asked)
        return sql.replace("max_line_size=4194304", "max_line_size=100000"), *more

    return mock.patch.object(sources, "_text", text)


@contextmanager
def two_readers():
    """A quotation mark sends the file to a reader that keeps the blanks around a cell."""
    staged, bare, careful = sources._staged, cell.bare, False

    def look(stack, path, *asked):
        nonlocal careful
        careful = b'"' in path.read_bytes()
        return staged(stack, path, *asked)

    def cut(text):
        return text if careful else bare(text)

    with mock.patch.object(sources, "_staged", look), mock.patch.object(cell, "bare", cut):
        yield


def two_rows():
    """A number is a share of its column's largest."""
    usual = intake.Cell.of.__func__

    def scaled(cls, table, *args):
        cell = usual(cls, table, *args)
        most = f"(SELECT max({cell.number}) FROM {table.sql} WHERE isfinite({cell.number}))"
        return replace(cell, number=f"({cell.number} * 100 / {most})")

    return mock.patch.object(intake.Cell, "of", classmethod(scaled))


def guessed_types():
    """The type of a frame's column follows from all of its cells."""
    return mock.patch.object(sources, "_WORDED", ())


def first_files_types():
    """The types of a folder's files are those of the first."""

    def read(con, root, *_):
        sql = f"read_parquet({sources._places(sources._files(root, 'parquet'))})"
        return sql, [row[0] for row in con.execute(f"DESCRIBE FROM {sql}").fetchall()]

    return mock.patch.object(sources, "_parquet", read)


def files_order():
    """Of a person's visits on one day the file's first counts."""
    usual = intake._taken

    def taken(column, j):
        return f"arg_max(e{j}, place)" if column.take == "last" else usual(column, j)

    return mock.patch.object(intake, "_taken", taken)


def rows_for_persons():
    """Who comes on many days is counted many times."""
    usual = intake._counted

    def counted(*asked):
        return usual(*asked[:-1], asked[-1].replace("GROUP BY person", "GROUP BY person, place"))

    return mock.patch.object(intake, "_counted", counted)


def matched_rows():
    """A row without a match in the second file vanishes."""
    usual = sources._joined

    def inner(*asked):
        both = usual(*asked)
        return both._replace(sql=both.sql.replace("LEFT JOIN", "JOIN"))

    return mock.patch.object(sources, "_joined", inner)


PLANTED = {
    "a vote is exempt from the schema": (exempt, fuzz.two_columns, Text),
    "a draft claims to be declared": (drafts_count, fuzz.found_in_rows, Text),
    "blank rows of a workbook vanish": (without_blank_rows, fuzz.declared, Excel),
    "a long cell": (short_lines, fuzz.declared, Text),
    "a reader strips what another keeps": (two_readers, fuzz.declared, Text),
    "a rule looks at two rows": (two_rows, fuzz.declared, Text),
    "types that follow from all cells": (guessed_types, fuzz.declared, PandasFrame),
    "types that follow from another file": (first_files_types, fuzz.declared, Folder),
    "a tie by the file's order": (files_order, fuzz.persons, Text),
    "rows without a match vanish": (matched_rows, fuzz.joined, Text),
    "rows for persons": (rows_for_persons, fuzz.persons, Text),
}


@pytest.mark.parametrize("fault", PLANTED)
def test_a_planted_fault_is_found(fault, monkeypatch):
    plant, kind, shape = PLANTED[fault]
    make = shape.some if shape is Text else lambda chance: shape()
    monkeypatch.setattr(fuzz.writers, "form", make)
    monkeypatch.setattr(fuzz, "RUN", 0.0)
    monkeypatch.setattr(fuzz, "RELEASED", 0.0)
    with plant():
        found = fuzz.fuzz(seconds=600, most=60, kind=kind, stop=True)
    assert found.findings
    assert not re.search(r": \w*Error: ", found.findings[0])  # which is none of what is planted
    seed = found.counts[kind.__name__.replace("_", " ")] - 1
    assert not fuzz.fuzz(seconds=600, first=seed, most=1, kind=kind).findings
