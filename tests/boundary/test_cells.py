"""Cells, rows and queries that are meant to break a reader, and what may be called declared."""

from __future__ import annotations

import ast
import gzip
import json
import math
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from engine import Dataset, InputError, fold_table, load_dataset, read_csv, read_table, run
from engine.__main__ import main
from engine.data import workbook as books
from engine.data.codebook import read_codebook
from engine.data.pairs import read_pair
from engine.data.schema import Column, Schema, load_schema
from engine.data.source import stream
from engine.data.spreadsheets import safe
from engine.errors import DataError
from engine.pairs.columns import pair_of
from tests.boundary.writers import workbook

ROOT = Path(__file__).resolve().parents[2]
YES = Column(name="a", type="ordered", levels=("no", "yes"))
AGE = Column(name="b", type="numeric", bounds=(0, 100), bins=4)


def with_other(other: Any, rows: int | None = None) -> Schema:
    return Schema(
        (YES, Column(name="b", type="numeric", bounds=(0, 100), bins=4, other=other)), rows
    )


# What is declared -------------------------------------------------------------------------


def test_cut_points_and_levels_alone_declare_nothing() -> None:
    """One record decides what the commas of all others mean."""
    rows = [f"no;{k},{100 + k}" for k in range(1, 40)]
    edges = {"levels": {"a": ["no", "yes"]}, "edges": {"b": [2, 30]}}
    read = [
        read_csv("\n".join(["a;b", *rows, f"yes;{last}"]).encode(), **edges)
        for last in ("1,5", "1,234,567")
    ]
    changed = (read[0].codes != read[1].codes).any(axis=1)
    assert changed.sum() > 20  # which is why
    for data in read:
        assert not data.declared
        assert math.isinf(run("svt_pc", data).spent.epsilon)
    with pytest.raises(AttributeError):
        read[0].declared = True  # type: ignore[misc]


def test_only_a_whole_schema_makes_a_dataset_declared() -> None:
    """Whoever hands a schema to a dataset has read its records by that schema's own coders."""
    found = set()
    for path in (ROOT / "engine").rglob("*.py"):
        for function in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(function, ast.FunctionDef):
                continue
            for call in (n for n in ast.walk(function) if isinstance(n, ast.Call)):
                named = getattr(call.func, "id", "")
                given = {k.arg for k in call.keywords}
                if named in ("Dataset", "cls", "replace") and "schema" in given:
                    found.add((path.name, function.name))
    assert found == {
        ("dataset.py", "from_codes"),  # stated levels of an array of codes
        ("dataset.py", "from_values"),  # stated bounds of an array of numbers
        ("reading.py", "_follow"),
        ("reading.py", "folded_dataset"),
        ("pairs.py", "_pair"),
        ("settings.py", "empty"),  # rows that hold nothing
        ("known.py", "knowing"),  # public rows, or the schema that they were read by
        ("levels.py", "_merge"),  # takes it away
    }
    codes = np.zeros((3, 2), int)
    data = Dataset.from_codes(codes, ["a", "b"], [["no", "yes"]] * 2)
    assert data.declared
    with pytest.raises(InputError, match="declared schema"):
        Dataset(
            name="x", codes=data.codes, names=("a", "c"), levels=data.levels, schema=data.schema
        )


@pytest.mark.parametrize("release", ["vote", "difference", "scores"])
def test_no_release_of_a_pair_is_exempt(release: str) -> None:
    """Bounds and levels that were found in the rows squeeze all of them."""
    rng = np.random.default_rng(0)
    rows = "\n".join(f"{x:.6f},{x * x:.6f}" for x in rng.normal(size=300))
    far = f"x,y\n1e15,0\n{rows}".encode()
    near = f"x,y\n1,0\n{rows}".encode()
    one, other = (pair_of(read_pair(raw)).x for raw in (near, far))
    assert np.abs(one[1:] - other[1:]).max() > 0.5  # which is why
    for data in (read_pair(near), read_table(near)):
        assert math.isinf(run("anm", data, release=release).spent.epsilon)
    bounds = ((-5.0, 5.0), (0.0, 25.0))
    one, other = (pair_of(read_pair(raw, bounds)).x for raw in (near, far))
    assert (one[1:] == other[1:]).all()
    assert run("anm", read_pair(far, bounds), release=release).spent.epsilon == 1.0


def test_the_pairs_command_wants_bounds_of_own_data(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "pair.csv"
    path.write_text("a->b,b\n" + "\n".join(f"{k},{k * k}" for k in range(60)))
    assert main(["pairs", "--csv", str(path)]) == 2
    assert "--bounds" in capsys.readouterr().err
    asked = ["pairs", "--csv", str(path), "--bounds", "0,60,0,3600"]
    assert main(asked) == 0
    said = capsys.readouterr().out
    assert "a->b explains b" in said or "b explains a->b" in said
    assert main([*asked, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["spent"]["epsilon"] == 1.0


def test_names_with_arrows_in_a_true_graph() -> None:
    truth = read_csv(b"a->b,c\nx,1\ny,2\n", truth=b"from,to\na->b,c\n").truth
    assert truth is not None
    assert list(truth.edges) == [("a->b", "c")]


# Cells ------------------------------------------------------------------------------------

CELLS = {
    "a quotation mark": ('"""yes"', '"yes'),
    "quoted whole": ('"""yes"""', '"yes"'),
    "what follows quotes": ('"y"es', "yes"),
    "a blank after quotes": ('"yes" ', "yes"),
    "NUL": ("a\0b", "a\0b"),
    "a long cell": ("x" * 200_000, "x" * 200_000),
    "a longer cell than a block": ("x" * 5_000_000, "x" * 5_000_000),
    "a bare carriage return": ("\ryes\r", "yes"),
    "one between": ("a\rb", "a b"),
}


@pytest.mark.parametrize("case", CELLS)
@pytest.mark.parametrize("separator", [",", "\t"])
@pytest.mark.parametrize("packed", [False, True])
def test_every_cell_is_read(case: str, separator: str, packed: bool) -> None:
    written, cell = CELLS[case]
    raw = separator.join(["a", "b"]) + "\n"
    raw += "".join(separator.join(row) + "\n" for row in (("no", "1"), (written, "2"), ("no", "3")))
    content = raw.encode()
    data = read_csv(gzip.compress(content, 1) if packed else content, max_levels=3)
    assert data.n == 3
    assert set(data.levels[0]) == {"no", cell}
    schema = Schema((Column(name="a", type="ordered", levels=("no", "yes", '"yes')), AGE))
    found = read_csv(content, schema=schema)
    expected = {"yes": 1, '"yes': 2}.get(cell, 0)
    assert found.codes[:, 0].tolist() == [0, expected, 0]


@pytest.mark.parametrize("numbers", [{}, {"thousands": ","}, {"decimal": ","}])
def test_no_cell_takes_longer_than_it_is_long(numbers: dict[str, str]) -> None:
    """A million digits and a letter: each digit once more would be a fortnight."""
    cell = "1" * 1_000_000 + "x"
    stated = with_other("level")
    start = time.process_time()
    assert read_csv(f"a\tb\nno\t1\nyes\t{cell}\n".encode(), schema=stated, **numbers).n == 2
    assert read_csv(f"a\tb\nno\t1\nyes\t{cell}\n".encode(), **numbers).n == 2
    assert safe(f"+{cell}") == f"'+{cell}"
    assert time.process_time() - start < 5


@pytest.mark.parametrize("says", ["levels", "cuts", "bounds"])
def test_nor_does_a_codebooks(says: str) -> None:
    book = f"name,{says}\na,x{' ' * 500_000}y\nb,1|2\n".encode()
    start = time.process_time()
    with pytest.raises(InputError):
        read_codebook(book)
    assert time.process_time() - start < 5


def test_nor_do_a_codebooks_lines() -> None:
    """A line a level, of one column: each once more for every level before it is minutes."""
    book = "name,levels\n" + "".join(f"a,{k:060d}\n" for k in range(100_000))
    start = time.process_time()
    with pytest.raises(InputError, match="2 to 64 levels"):
        read_codebook(book.encode())
    assert time.process_time() - start < 5


@pytest.mark.parametrize("book", [b",", b'""', b'""\n,,'])
def test_a_codebook_without_a_word_is_none(book: bytes) -> None:
    with pytest.raises(InputError, match="needs a column called name"):
        read_codebook(book)


@pytest.mark.parametrize("bins", ["inf", "nan", "2.5"])
def test_a_codebooks_bins_are_a_whole_number(bins: str) -> None:
    with pytest.raises(InputError, match="bins of column 'b' must be a whole number"):
        read_codebook(f"name,bounds,bins\na,0|1,2\nb,0|1,{bins}\n".encode())


def test_a_list_of_edges_is_no_longer_than_columns_have_pairs() -> None:
    """Each line is read by itself: millions of them would take a page's turn for long."""
    raw, truth = b"a,b\nno,x\nyes,y\n", b"from,to\na,b\n"
    assert read_csv(raw, truth=truth).truth is not None
    with pytest.raises(InputError, match="more lines than the columns have pairs"):
        read_csv(raw, truth=truth + b"a,b\n" * 3)


def test_where_a_block_of_bytes_ends_changes_no_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    """What stands before it, other records, decides where that is."""
    monkeypatch.setattr("engine.data.source._CHUNK", 16)
    stated = Schema((Column(name="a", type="ordered", levels=("no", "x\r\ny", "x y")), AGE))
    for before in range(40):
        raw = f'a,b\r\n{"z" * before},10\r\n"x\r\ny",30\r\nx\ry,60\r\n'.encode()
        assert read_csv(raw, schema=stated).codes.tolist() == [[0, 0], [1, 1], [2, 2]]


@pytest.mark.parametrize("odd", ["no", '"""no"""', ' "no"'])
def test_quotes_after_a_blank_count_in_columns_that_are_not_read_as_well(odd: str) -> None:
    """Two lines are one record there; another record, read with care, once made it so."""
    rows = [*[f"{odd},no,1"] * 3, 'yes,yes, "of two', 'no,no,lines"', "yes,yes,1"]
    two = Schema(THREE.columns[:2])
    found = read_csv("\n".join(["a,b,c", *rows, ""]).encode(), schema=two)
    assert found.codes.tolist() == [[0, 0]] * 3 + [[1, 1]] * 2


def test_a_comment_among_the_records_is_read_alike_whatever_the_others_hold() -> None:
    """One that opens quotes after a blank holds what follows; with care only, it once did."""
    for odd in ("no", '"""no"""'):
        rows = [f"{odd},no,no,1,1", '# a, "b', 'yes,yes,yes,1,1"', "yes,yes,yes,1,1"]
        raw = "\n".join(["a,b,c,d,e", *[f"{odd},no,no,1,1"] * 2, *rows, ""]).encode()
        assert read_csv(raw, schema=THREE).codes[:, 1].tolist() == [0, 0, 0, 1]


def test_rows_of_blanks_are_records() -> None:
    """Three columns cut by tabs: two carriage returns once made two lines of blanks of one row."""
    columns = tuple(Column(name=n, type="ordered", levels=("x", "y")) for n in "abc")
    for row in (b"\t\t", b"\t\r\t", b"\r\t\r\t\r", b" \t \t "):
        raw = b"a\tb\tc\ny\ty\ty\n" + row + b"\ny\ty\ty\n"
        assert read_csv(raw, schema=Schema(columns)).codes.tolist() == [[1] * 3, [0] * 3, [1] * 3]


def test_a_quote_that_does_not_end_is_refused() -> None:
    """It would swallow the records below it, without a word."""
    for raw in (b'a,b\nno,1\nyes,"2\nno,3\n', b'a,b\nno,1\nyes,"2'):
        for options in ({}, {"schema": with_other(1)}):
            with pytest.raises(DataError, match="quotes"):
                read_csv(raw, **options)


THREE = Schema(tuple(Column(name=n, type="ordered", levels=("no", "yes")) for n in "abc"))


@pytest.mark.parametrize(
    ("last", "n"),
    [
        ("#yes,no,yes,no", 22),  # another number of cells than the header: no record
        ("#yes,no,yes,,", 22),
        ("#yes,no", 22),
        ("#yes,no,yes", 23),
        ("#yes,no,yes,", 23),
        ("yes,no,yes, ", 23),
        ("yes,no,yes", 23),
        ("yes,no,yes,no", None),
        ("yes,no,yes,,", None),
        ("yes,no", None),
    ],
)
def test_separators_that_end_other_lines_decide_about_none(last: str, n: int | None) -> None:
    """One record without its own once made one record more, or less, of a line far below."""
    lines = ["yes,no,yes,"] * 22
    for lacking in (None, 3, 21):
        body = [line[:-1] if k == lacking else line for k, line in enumerate(lines)]
        raw = "\n".join(["a,b,c", *body, last, ""]).encode()
        if n is None:
            with pytest.raises(DataError, match="header of data has 3 cells but line 24 has"):
                read_csv(raw, schema=THREE)
        else:
            assert read_csv(raw, schema=THREE).n == n


def test_a_header_that_ends_in_a_separator_is_read_whatever_the_lines_end_in() -> None:
    for other in ("yes,no,yes", "yes,no,yes,", "yes,no,yes,,"):
        raw = "\n".join(["a,b,c,", *["yes,no,yes,,"] * 5, other, ""]).encode()
        assert read_csv(raw, schema=THREE).n == 6


WITHIN = 'n"\ra,b,c\ryes,yes,yes\ryes,yes,yes\r#'


@pytest.mark.parametrize("above", ['# height (6" tall)\n', ' # 6"\n', "\n", ""])
@pytest.mark.parametrize("header", ["a,b,c", 'a,b,c,5" x', 'a;b;c;"5"', '"a","b","c","5 \n x"'])
def test_no_record_decides_what_ends_the_lines(above: str, header: str) -> None:
    """A quotation mark that nothing closes above the records once sought its other half in them:
    a table within one cell then took the place of the file's own.
    """
    by = ";" if ";" in header else ","
    rows = [by.join(["no", "no", "no", "1"][: len(header.split(by))])] * 5
    within_quotes = '"{}"'.format(WITHIN.replace('"', '""'))
    for cell in ("no", WITHIN.replace(by, "."), within_quotes):
        changed = [cell + row[2:] if k == 2 else row for k, row in enumerate(rows)]
        for end in ("\n", "\r\n"):
            raw = (above + "\n".join([header, *changed, ""])).replace("\n", end)
            assert read_csv(raw.encode(), schema=THREE).codes.tolist() == [[0, 0, 0]] * 5


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_bytes_that_are_no_text_far_below(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    broken = b"\xff,1\n" if encoding == "utf-8" else b"\x00\xd8\x00\xd8"
    path.write_bytes(("a,b\n" + "no,1\nyes,2\n" * 100_000).encode(encoding) + broken)
    for options in ({}, {"schema": with_other(1)}):
        with pytest.raises(DataError, match="not UTF"):
            read_csv(path, encoding=encoding, **options)


@pytest.mark.parametrize(
    "header",
    [b"x" * 200_000 + b",b", b"," * 100_000, b",".join(b"c%d" % k for k in range(100_000))],
)
def test_a_hostile_header_is_one_sentence(header: bytes) -> None:
    with pytest.raises(DataError) as caught:
        read_csv(header + b"\n1,2\n")
    assert str(caught.value).count("\n") == 0
    assert len(str(caught.value)) < 300


# Workbooks --------------------------------------------------------------------------------


def sheet(path: Path, rows: list[tuple[str, str]]) -> Path:
    def cell(place: str, text: str) -> str:
        return f'<c r="{place}" t="inlineStr"><is><t>{text}</t></is></c>' if text else ""

    cells = (
        f'<row r="{k}">{cell(f"A{k}", a)}{cell(f"B{k}", b)}</row>'
        for k, (a, b) in enumerate(rows, 1)
    )
    return workbook(path, "".join(cells))


@pytest.mark.parametrize("place", [0, 1, 2])
def test_blank_rows_of_a_workbook_are_records(
    place: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if place < 2:  # a process for every reading takes long; the last row's has one
        monkeypatch.setattr(books, "opened", here)
    rows = [("yes", "60")] * 3
    rows[place] = ("", "")
    path = sheet(tmp_path / "t.xlsx", [("a", "b"), *rows])
    stated = with_other("level", rows=3)
    data, folded = read_table(path, schema=stated), fold_table(path, schema=stated)
    assert data.n == folded.n == 3
    assert data.codes[place].tolist() == [0, 4]
    assert (np.delete(data.codes, place, axis=0) == [1, 2]).all()
    for reader in (read_table, fold_table):
        with pytest.raises(InputError, match="number of rows"):
            reader(path, schema=with_other("level"))
    assert read_table(path, levels={"a": ["no", "yes"]}, edges={"b": [50]}).n == 2


@contextmanager
def here(path: Path, name: str | None) -> Iterator[books.Sheet]:
    """A sheet that this process reads itself."""
    yield books.in_process(str(path), name)


def test_a_sheet_that_begins_elsewhere(tmp_path: Path) -> None:
    cells = "".join(
        f'<row r="{k}"><c r="C{k}"><v>{a}</v></c>'
        f'<c r="D{k}" t="inlineStr"><is><t>{b}</t></is></c></row>'
        for k, (a, b) in enumerate([(7, "b"), (1, "yes"), (2, "no")], 3)
    )
    data = read_table(workbook(tmp_path / "t.xlsx", cells))
    assert (data.names, data.codes.tolist()) == (("7", "b"), [[0, 1], [1, 0]])


def test_a_hostile_workbook_is_one_sentence(tmp_path: Path) -> None:
    """Two cells a million rows and 16,384 columns apart: 17 billion cells in 1.7 kB."""
    far = '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'
    path = workbook(tmp_path / "far.xlsx", '<row r="1"><c r="A1"><v>1</v></c></row>' + far)
    assert path.stat().st_size < 2_000
    broken = tmp_path / "broken.xlsx"
    broken.write_bytes(path.read_bytes()[:900])
    empty = workbook(tmp_path / "empty.xlsx", "")
    said = {path: "more than 4 GB", broken: "save it as CSV", empty: "is empty"}
    for file, expected in said.items():
        with pytest.raises(DataError, match=expected) as caught:
            read_table(file)
        assert str(caught.value).count("\n") == 0


# Missing numbers --------------------------------------------------------------------------

GAPS = ("", "NA", "text", "nan")


@pytest.mark.parametrize("gap", GAPS)
def test_a_missing_number_is_refused_unless_the_schema_says(gap: str) -> None:
    raw = f"a,b\nno,10\nyes,{gap}\nno,90\n".encode()
    with pytest.raises(DataError, match=r'missing number; say .* "other": "level"'):
        read_csv(raw, schema=with_other(None))
    assert read_csv(raw, schema=with_other(60)).codes[:, 1].tolist() == [0, 2, 3]
    level = read_csv(raw, schema=with_other("level"))
    assert level.codes[:, 1].tolist() == [0, 4, 3]
    assert level.levels[1] == ("< 25", "[25, 50)", "[50, 75)", ">= 75", "missing")


@pytest.mark.parametrize("other", [None, 60, "level"])
def test_folding_and_frames_treat_missing_numbers_alike(other: Any, tmp_path: Path) -> None:
    table = pa.table({"a": ["no", "yes", "no", "no"], "b": [10.0, None, 90.0, math.nan]})
    parquet.write_table(table, tmp_path / "t.parquet")
    stated, wanted = with_other(other), {60: [0, 2, 3, 2], "level": [0, 4, 3, 4]}
    for read in (
        lambda: read_table(table, schema=stated),
        lambda: read_table(table.to_pandas(), schema=stated),
        lambda: fold_table(tmp_path / "t.parquet", schema=stated),
    ):
        if other is None:
            with pytest.raises(DataError, match="missing number"):
                read()
        else:
            assert sorted(read().row_codes()[:, 1].tolist()) == sorted(wanted[other])


def test_a_level_for_missing_numbers_is_written_and_read_back() -> None:
    stated = with_other("level")
    assert load_schema(json.dumps(stated.to_json()).encode()) == stated
    with pytest.raises(InputError, match="no room"):
        Column(name="b", type="numeric", bounds=(0, 1), bins=64, other="level")


# Frames -----------------------------------------------------------------------------------


def test_one_cell_of_a_frame_does_not_change_the_others() -> None:
    stated = with_other(60)
    for odd in ("text", True, b"\xff", None, [1], {"x": 1}, pd.NaT, 10**40):
        frame = pd.DataFrame(
            {"a": ["yes", "no", "yes"], "b": pd.Series([1, odd, 99], dtype=object)}
        )
        assert read_table(frame, schema=stated).codes[[0, 2]].tolist() == [[1, 0], [1, 3]]
    levels = Column(name="b", type="ordered", levels=("10000000000000000", "1.5", "x"))
    schema = Schema((YES, levels))
    for first in ([10**16, None], [1e16, 1.5], pd.Series([10**16, "x"], dtype=object)):
        frame = pd.DataFrame({"a": ["yes", "no"], "b": first})
        assert read_table(frame, schema=schema).codes[0].tolist() == [1, 0]


def test_decimals_are_written_without_their_columns_zeros() -> None:
    from decimal import Decimal

    levels = Column(name="b", type="ordered", levels=("1", "1.5", "2.25"))
    for other in ("2.25", "1.5000", "7"):
        frame = pd.DataFrame({"a": ["yes", "no"], "b": [Decimal("1.5"), Decimal(other)]})
        assert read_table(frame, schema=Schema((YES, levels))).codes[0].tolist() == [1, 1]
        table = pa.Table.from_pandas(frame)
        assert read_table(table, schema=Schema((YES, levels))).codes[0].tolist() == [1, 1]


# Queries ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "query",
    [
        "VACUUM INTO '{}/copy.db'",
        "ATTACH '{}/copy.db' AS copy",
        "CREATE TABLE u (a)",
        "INSERT INTO t VALUES (1, 2)",
        "WITH x AS (SELECT 1) DELETE FROM t",
        "PRAGMA journal_mode = WAL",
        "SELECT load_extension('{}/copy.db')",
        "SELECT * FROM pragma_table_info('t')",
        "BEGIN",
    ],
)
def test_a_query_only_reads(query: str, tmp_path: Path) -> None:
    path = tmp_path / "t.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE t (a, b)")
        connection.executemany("INSERT INTO t VALUES (?, ?)", [("x", 1), ("y", 2), ("x", 2)])
    connection.close()
    before = path.read_bytes()
    with pytest.raises(InputError) as caught:
        read_table(path, query=query.format(tmp_path))
    assert str(caught.value).count("\n") == 0
    assert [p.name for p in tmp_path.iterdir()] == ["t.db"]
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "query",
    [
        "COPY t TO '{}/copy.csv'",
        "SELECT 1; COPY t TO '{}/copy.csv'",
        "PRAGMA enable_profiling='json'; PRAGMA profiling_output='{}/p.json'; SELECT * FROM t",
        "CALL enable_logging(storage='file', storage_path='{}/log'); SELECT * FROM t",
        "ATTACH '{}/copy.db'",
        "SET enable_external_access = true",
        "CREATE TEMP TABLE u AS SELECT 1",
    ],
)
@pytest.mark.parametrize("reader", [read_table, fold_table])
def test_a_query_on_duckdb_only_reads(query: str, reader: Any, tmp_path: Path) -> None:
    path = tmp_path / "t.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE t AS FROM (VALUES ('no', 1), ('yes', 2)) v(a, b)")
    before = path.read_bytes()
    schema = {"schema": with_other(1)}
    with pytest.raises(InputError) as caught:
        reader(path, query=query.format(tmp_path), **schema)
    assert str(caught.value).count("\n") == 0
    assert [p.name for p in tmp_path.iterdir()] == ["t.duckdb"]
    assert path.read_bytes() == before
    assert reader(path, query="FROM t -- all of it", **schema).n == 2


def test_what_a_log_beside_a_database_holds_is_read(tmp_path: Path) -> None:
    path = tmp_path / "t.db"
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("CREATE TABLE t (a, b)")
    connection.executemany("INSERT INTO t VALUES (?, ?)", [("x", 1), ("y", 2)])
    connection.commit()
    assert read_table(path).n == 2
    connection.close()
    query = "WITH RECURSIVE k(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM k WHERE i < 3) "
    assert read_table(path, query=query + "SELECT upper(a) AS a, i FROM t, k").n == 6


# What is printed --------------------------------------------------------------------------


def test_what_is_printed_holds_no_rows() -> None:
    raw = b"a,b\nno,10\nyes,20\nno,90\nyes,33\n" + b"no,77.125\n" * 10
    data = read_csv(raw, schema=with_other(1))
    pair = read_pair(raw.replace(b"no", b"1").replace(b"yes", b"2"), ((0, 3), (0, 100)))
    network = load_dataset("asia", n=500)
    for shown in (data, network, run("marginal_pc", data), run("pc", network), pair, pair_of(pair)):
        said = repr(shown)
        assert "\n" not in said
        assert len(said) < 200
        assert "array" not in said
        assert "77.125" not in said
    assert "77.125" not in repr(stream(raw))
    assert "14 rows, 2 columns, private, declared" in repr(data)


# What a refusal quotes --------------------------------------------------------------------

CELL = "Mallory"
WORDS = "".join(f"{k},{k % 2}\n" for k in range(80))


@pytest.mark.parametrize(
    ("body", "options", "row"),
    [
        (f"yes,1\nno,2\n{CELL},1\n", {"levels": {"a": ["no", "yes"]}}, 3),
        (f"yes,1\n,2\n{CELL},1\nno,3\n", {"levels": {"a": ["no", "yes", ""]}}, 3),
        (f"{WORDS}{CELL},1\n", {}, 81),
        (f",1\n{WORDS}{CELL},1\n", {"missing": "drop"}, 82),
        (f",1\n{WORDS}{CELL},1\n,3\n", {"missing": "level"}, 82),
        (f"{WORDS}1.5,1\n", {"levels": {"a": ["0", "1"]}}, 3),
    ],
)
def test_a_refusal_names_the_row_and_not_what_it_holds(
    body: str, options: dict[str, Any], row: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of a person's own file: the sentence is pasted into mails and kept in logs."""
    with pytest.raises(DataError) as caught:
        read_csv(f"a,b\n{body}".encode(), **options)
    assert f" row {row} below the header" in str(caught.value)
    assert CELL not in str(caught.value)
    if not options:
        (tmp_path / "own.csv").write_text(f"a,b\n{body}")
        assert main(["run", "--csv", str(tmp_path / "own.csv"), "--algorithm", "pc"]) == 2
        assert capsys.readouterr().err.count(f"row {row} below") == 1


def test_a_long_column_of_numbers_names_the_row_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where values are too many to list, the first that is no number, in whatever batch it is."""
    monkeypatch.setattr("engine.data.tally.MOST_WORDS", 20)
    for many in (f"{WORDS}{CELL},1\n", f"{CELL},1\n{WORDS}"):
        with pytest.raises(DataError) as caught:
            read_csv(f"a,b\n{many}".encode())
        assert f"row {81 if many[0] == '0' else 1} below the header" in str(caught.value)
        assert CELL not in str(caught.value)
    numbers = pa.array([str(k) for k in range(30)])
    batches = [pa.record_batch({"a": numbers, "b": numbers})]
    batches.append(pa.record_batch({"a": pa.array(["7", CELL]), "b": pa.array(["1", "2"])}))
    with pytest.raises(
        DataError, match="'a' is all numbers up to row 32 below the header; correct"
    ):
        read_table(pa.Table.from_batches(batches))
    with pytest.raises(DataError, match="'a' holds too many numbers to be declared levels"):
        read_csv(f"a,b\n{WORDS}".encode(), levels={"a": ["0", "1"]})
    whole = pa.array([2**53 + 1 + 2 * k for k in range(30)])
    data = read_table(pa.Table.from_batches([pa.record_batch({"a": whole, "b": numbers})] * 2))
    assert data.n == 60


def test_an_ambiguous_comma_is_not_quoted() -> None:
    with pytest.raises(DataError, match="comma may be a decimal or a thousands") as caught:
        read_csv(b"a\tb\n1,234\t1\n5,678\t2\n")
    assert "1,234" not in str(caught.value)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT a::INT AS a, b FROM t",
        "SELECT strptime(a, '%Y') AS a, b FROM t",
        "SELECT error(a) AS a, b FROM t",
        "SELECT b * 1234567890::INT AS a, b FROM t",
    ],
)
def test_a_database_does_not_quote_the_value_it_cannot_take(query: str, tmp_path: Path) -> None:
    """DuckDB's own words do: 'Could not convert string ... to INT32'."""
    place = tmp_path / "own.duckdb"
    with duckdb.connect(str(place)) as connection:
        connection.execute(f"CREATE TABLE t AS SELECT * FROM (VALUES ('{CELL}', 77)) v(a, b)")
    with pytest.raises(InputError, match="does not answer the query: a value is not") as caught:
        read_table(place, query=query)
    assert CELL not in str(caught.value)
    assert "77" not in str(caught.value)


@pytest.mark.parametrize(
    ("kind", "query"),
    [
        ("db", "SELECT json_extract('{}', a) AS a, b FROM t"),
        ("db", "SELECT a, b, json_set('{}', a, 1) FROM t"),
        ("duckdb", "SELECT a, timezone(a, TIMESTAMP '2020-01-01') AS b FROM t"),
    ],
)
def test_nor_does_one_that_took_the_value_for_a_path_or_a_zone(
    kind: str, query: str, tmp_path: Path
) -> None:
    place = tmp_path / f"own.{kind}"
    with duckdb.connect(str(place)) if kind == "duckdb" else sqlite3.connect(place) as connection:
        connection.execute(f"CREATE TABLE t AS SELECT '{CELL}' AS a, 77 AS b")
    for read in (read_table, partial(fold_table, schema=with_other(1))):
        with pytest.raises(InputError, match="does not answer the query: a value is not") as caught:
            read(place, query=query)
        assert CELL not in str(caught.value)
        with pytest.raises(InputError, match=r"does not answer the query: .*nosuch"):
            read(place, query="SELECT nosuch FROM t")  # a word of the query's own


def test_a_frame_of_types_that_are_not_read_is_refused_in_a_sentence() -> None:
    with pytest.raises(DataError, match=r"complex numbers.*\.$") as caught:
        read_table(pd.DataFrame({"a": [1j, 77j, 3j], "b": [1, 2, 3]}))
    assert "77" not in str(caught.value)


def test_periods_and_intervals_are_read_as_their_text() -> None:
    periods = pd.Series(pd.period_range("2020", periods=3, freq="M"))
    for cells, last in ((periods, "2020-03"), (pd.Series(pd.interval_range(0, 3)), "(2, 3]")):
        found = read_table(pd.DataFrame({"a": cells, "b": [1, 2, 3]})).levels[0]
        assert found[-1] == last
