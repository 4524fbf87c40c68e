"""Where a table comes from, as a relation that DuckDB reads.

A CSV, Parquet or Arrow file, a folder of CSV or Parquet, a frame, a sheet of a workbook, a query on
a database file: each becomes a relation with columns called c0, c1, … DuckDB has a bounded memory,
writes nothing to a disk, and none of its messages, which quote cells, is shown. A file that is not
well-formed in its dialect is refused with the line's number and without a cell.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import os
import re
import sqlite3
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from functools import reduce
from itertools import chain, dropwhile, islice
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO, Any, NamedTuple

import numpy as np

from engine.data.column import DELIMITERS, MOST_COLUMNS, PLAIN, Dialect, repeated
from engine.data.spreadsheets import unsafe
from engine.errors import DataError, InputError, did_you_mean, show

Source = str | os.PathLike[str] | bytes | IO[str] | IO[bytes]

_ENDINGS = {"parquet": (".parquet", ".pq"), "text": (".csv", ".tsv", ".txt", ".gz")}
_BOOKS = (".xlsx", ".xlsm", ".xls", "")
_MARKS = {b"PAR1": "parquet", b"SQLite format 3\0": "sqlite", b"ARROW1": "arrow"}
_CHUNK = 1 << 20  # bytes read at a time; the header's line ends in the first
_LONGEST = 2 * _CHUNK  # bytes of a line that DuckDB reads
_MOST_UNPACKED, _MOST_CELLS = 1 << 30, 20_000_000  # of a workbook: bytes, and cells of its area
# A bounded memory, no disk, and no look at Python's variables.
_SETTINGS = """SET memory_limit = '60%'; SET temp_directory = ''; SET TimeZone = 'UTC';
SET python_enable_replacements = false; SET preserve_insertion_order = false; SET threads = """


class Relation(NamedTuple):
    """A table that DuckDB can read: what to select from, and its columns."""

    con: Any
    sql: str
    names: list[str]
    types: list[str]
    label: str
    dialect: Dialect

    def at(self, name: str) -> int:
        """Where a column is that a schema names; DataError where it is not."""
        for k, found in enumerate(self.names):
            if name in (found, unsafe(found)):
                return k
        hint = did_you_mean(name, filter(None, self.names))
        raise DataError(f"{self.label} has no column {show(name)}, which the schema names.{hint}")

    def rows(self, select: str, rest: str = "") -> Any:
        """What a SELECT gives; its FROM is this table."""
        return self.con.execute(f"SELECT {select} FROM {self.sql} {rest}").fetchall()


class _Asked(NamedTuple):
    """What a reader of one kind of source is given."""

    con: Any
    stack: ExitStack
    source: Any  # a frame, or the path of a file or folder
    label: str
    dialect: Dialect
    query: str | None
    sheet: str | None
    least: int | None


_Found = tuple[str, list[str] | None]  # SQL to select from; names, None where DuckDB says them


@contextmanager
def opened(
    source: Any,
    dialect: Dialect = PLAIN,
    query: str | None = None,
    sheet: str | None = None,
    least: int | None = None,
) -> Iterator[Relation]:
    """The table as something that DuckDB reads; what is wrong with it is a DataError in our words.

    ``least`` is the stated number of rows: a workbook does not store those that are blank at its
    end.
    """
    import duckdb  # here: it takes a tenth of a second to load

    with ExitStack() as stack:
        label, kind = "data", "frame"
        if isinstance(source, np.ndarray):
            source = framed(source)
        elif not hasattr(source, "__arrow_c_stream__"):
            label, source = located(stack, source)
            kind = _kind(source, Path(label).suffix)
        if query is not None and kind not in ("sqlite", "duckdb"):
            raise InputError("A query needs a SQLite or DuckDB file.")
        if sheet is not None and kind != "excel":
            raise InputError("A sheet needs an Excel workbook.")
        try:
            place = (str(source), True) if kind == "duckdb" else (":memory:", False)
            con = stack.enter_context(duckdb.connect(*place))
            cores = getattr(os, "sched_getaffinity", lambda _: range(os.cpu_count() or 1))(0)
            con.execute(f"{_SETTINGS}{len(cores)}")
            asked = _Asked(con, stack, source, label, dialect, query, sheet, least)
            sql, names = _READERS[kind](asked)
            described = con.execute(f"DESCRIBE SELECT * FROM {sql}").fetchall()
            if names is None:
                names = [row[0] for row in described]
                sql = f"{sql} t({', '.join(f'c{k}' for k in range(len(names)))})"
            _check_names(names, label)
            yield Relation(con, sql, names, [row[1] for row in described], label, dialect)
        except duckdb.OutOfMemoryException:
            raise DataError(
                f"{label} needs more memory than there is; give fewer columns."
            ) from None
        except duckdb.Error as error:
            raise _refusal(str(error), label, kind, query) from None


_WRONG = {
    "Expected Number of Columns": "has another number of cells than the header has names",
    "unterminated quote": "has a quotation mark that is not closed, or text after one",
    "Invalid unicode": "is not text in the encoding stated (utf-8, utf-16 or latin-1)",
    "Maximum line size": "is longer than 2 MB",
}


def _refusal(said: str, label: str, kind: str, query: str | None) -> DataError:
    """What to say in the place of a message of DuckDB's, which may quote a cell."""
    at = re.match(r"Invalid Input Error: CSV Error on Line: (\d+)", said)
    if kind == "text" and at is not None:
        why = next((words for mark, words in _WRONG.items() if mark in said), "cannot be read")
        return DataError(f"Line {int(at[1]):,} of {label} {why}; correct it.")
    if query is not None:
        return DataError(f"{label} does not answer the query; check its SQL.")
    what = {"text": "delimited text", "frame": "a table"}.get(kind, kind)
    return DataError(f"{label} cannot be read as {what}; check the file.")


def _check_names(names: Sequence[str], label: str) -> None:
    """Refuse a table with columns that cannot be distinguished."""
    named = [name for name in names if name.strip()]
    if len(named) < 2:
        raise DataError(f"{label} has fewer than two columns with a name; give two.")
    if len(set(named)) < len(named):
        twice = show(repeated(named))
        raise DataError(f"Two columns of {label} are called {twice}; rename or delete one.")
    if len(named) > MOST_COLUMNS:
        raise DataError(f"{label} has {len(named):,} columns; keep at most {MOST_COLUMNS:,}.")


def located(stack: ExitStack, source: Any) -> tuple[str, Path]:
    """What a file, bytes or an open file are called, and their path, which is one in memory."""
    if isinstance(source, str | os.PathLike):
        return Path(source).name, Path(source)
    name = getattr(source, "name", None)
    raw = source.read() if hasattr(source, "read") else source
    raw = raw.encode("utf-8", "replace") if isinstance(raw, str) else raw
    if not isinstance(raw, bytes | bytearray):
        called = "nothing" if source is None else f"of the type {type(source).__name__}"
        raise InputError(
            "The data are a frame (pandas, Polars, Arrow), an array, bytes, an open file or the "
            f"path of a file, not {called}."
        )
    file, path = _memory(stack)
    file.write(raw)
    file.flush()
    return Path(name).name if isinstance(name, str) and name else "data", path


def _memory(stack: ExitStack) -> tuple[IO[bytes], Path]:
    """A file in memory (or a private one that is deleted), and its path."""
    if hasattr(os, "memfd_create"):
        file: IO[bytes] = stack.enter_context(os.fdopen(os.memfd_create("table"), "wb"))
        return file, Path(f"/proc/self/fd/{file.fileno()}")
    kept = stack.enter_context(NamedTemporaryFile())  # noqa: SIM115
    return kept, Path(kept.name)


def _kind(path: Path, suffix: str) -> str:
    """What a file is by its first bytes, a folder by what it holds; DataError for neither."""
    try:
        if path.is_dir():
            kind = next((kind for kind in _ENDINGS if _files(path, kind)), None)
            if kind is None:
                raise DataError(f"The folder {show(path.name)} holds no CSV and no Parquet files.")
            return kind
        with path.open("rb") as file:
            start = file.read(16)
    except OSError:
        raise DataError(f"There is no file {show(str(path))} to read; check its path.") from None
    if start[8:12] == b"DUCK":
        return "duckdb"
    if start.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0")) and suffix.lower() in _BOOKS:
        return "excel"
    return next((kind for mark, kind in _MARKS.items() if start.startswith(mark)), "text")


def _files(path: Path, kind: str) -> list[Path]:
    """The file itself, or those of a folder."""
    if not path.is_dir():
        return [path]
    return sorted(p for p in path.rglob("*") if p.suffix.lower() in _ENDINGS[kind])


def quoted(text: str) -> str:
    """A text as SQL writes it."""
    return "'" + text.replace("'", "''") + "'"


def _places(paths: Iterable[Path]) -> str:
    """Paths as DuckDB takes them, without what a glob would read into a name."""
    bare = (quoted(re.sub(r"([*?[])", r"[\1]", str(path))) for path in paths)
    return f"[{', '.join(bare)}]"


# Frames and files with types ------------------------------------------------------------------


def _parquet(asked: _Asked) -> _Found:
    return f"read_parquet({_places(_files(asked.source, 'parquet'))})", None


def _arrow(asked: _Asked) -> _Found:
    import pyarrow as pa

    try:
        with pa.memory_map(str(asked.source)) as file:
            asked.con.register("source", pa.ipc.open_file(file).read_all())
    except (pa.ArrowException, OSError):
        raise DataError(f"{asked.label} cannot be read as arrow; check the file.") from None
    return "source", None


def framed(array: np.ndarray, names: Sequence[str] | None = None) -> Any:
    """An (n, d) array as a frame with these names, or X0, X1 and so on."""
    import pandas as pd

    if array.ndim != 2 or array.dtype.kind not in "biufOUST":
        raise DataError("An array of data has rows and columns of numbers or words.")
    names = names or [f"X{j}" for j in range(array.shape[1])]
    if len(names) != array.shape[1]:
        raise DataError(f"The array has {array.shape[1]} columns but the schema {len(names)}.")
    return pd.DataFrame(array, columns=list(names))


def _frame(asked: _Asked) -> _Found:
    """A pandas, Polars or Arrow table."""
    import pyarrow as pa

    frame = _worded(asked.source, asked.label)
    try:
        table = pa.table(frame)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        raise DataError(
            "The frame has a column of a type that is not read; make it text, numbers or dates."
        ) from None
    asked.con.register("source", table.rename_columns([f"c{k}" for k in range(len(table.columns))]))
    return "source", list(table.column_names)


# Types of pandas with cells of separate types: Arrow would find one type for all of them,
# which one record can change.
_WORDED = ("period", "interval", "object", "category")


def _worded(frame: Any, label: str) -> Any:
    """A frame of pandas with text for what has no type of its own; any other table as it is."""
    if type(frame).__module__.partition(".")[0] != "pandas":
        return frame
    if getattr(frame, "columns", None) is None:
        raise DataError("A single column is no table; give a frame of two columns or more.")
    out = frame.reset_index(drop=True)
    out.columns = [str(name) for name in out.columns]
    _check_names(out.columns, label)
    for place, kind in enumerate(out.dtypes):
        if str(kind).partition("[")[0] in _WORDED:
            out.isetitem(place, out.iloc[:, place].astype(object).map(_word).astype("string"))
    return out


def _word(value: Any) -> str | None:
    """A cell of any type as text that is valid everywhere."""
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    return None if value is None else str(value).encode("utf-8", "replace").decode()


# Delimited text -------------------------------------------------------------------------------


def _text(asked: _Asked) -> _Found:
    """Delimited text, or a folder of it, as a relation of text columns."""
    files = [_staged(asked, file) for file in _files(asked.source, "text")]
    if len({head for _, head in files}) > 1:
        raise DataError(f"The files of {asked.label} do not have the same header; make them alike.")
    packed, names, delimiter = files[0][1]
    columns = ", ".join(f"'c{k}': 'VARCHAR'" for k in range(len(names)))
    sql = (
        f"read_csv({_places(place for place, _ in files)}, auto_detect=false, header=true, "
        f"delim={quoted(delimiter)}, quote='\"', escape='\"', columns={{{columns}}}, "
        f"compression='{'gzip' if packed else 'none'}', strict_mode=true, null_padding=false)"
    )
    return sql, list(names)


def _staged(asked: _Asked, path: Path) -> tuple[Path, tuple[bool, tuple[str, ...], str]]:
    """The place of text in UTF-8, in memory where it is not; whether it is packed, its header."""
    encoding = asked.dialect.encoding
    try:
        with path.open("rb") as file:
            packed = file.read(2) == b"\x1f\x8b"
        with _unpacked(path, packed) as plain:
            if plain.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
                encoding = "utf-16"  # no UTF-8 text begins so
            if encoding != "utf-8":
                plain.seek(0)
                target, path = _memory(asked.stack)
                chunks = iter(lambda: plain.read(_CHUNK), b"")
                target.writelines(chunk.encode() for chunk in codecs.iterdecode(chunks, encoding))
                target.flush()
                packed = False
        with _unpacked(path, packed) as plain:
            return path, (packed, *_header(plain, asked))
    except (UnicodeError, csv.Error):
        raise DataError(
            f"{asked.label} is not {encoding} text with a header line; save it as CSV in UTF-8, or "
            "say its encoding (utf-16 or latin-1)."
        ) from None
    except (OSError, EOFError, zlib.error):
        raise DataError(f"{asked.label} cannot be unpacked; check the file.") from None


def _unpacked(path: Path, packed: bool) -> IO[bytes]:
    return gzip.open(path) if packed else path.open("rb")  # type: ignore[return-value]


def _header(file: IO[bytes], asked: _Asked) -> tuple[tuple[str, ...], str]:
    """The names and the delimiter, which no record decides; the lines below are well-formed."""
    start = file.read(_CHUNK)
    file.seek(0)
    first = start.partition(b"\n")[0]
    _check_lines(file, first.endswith(b"\r"), asked.label)
    line = first.decode("utf-8-sig")
    if not line.strip():
        raise DataError(f"{asked.label} is empty; its first line is the header, with names.")
    delimiter = asked.dialect.delimiter or max(
        DELIMITERS, key=lambda sign: len(next(csv.reader([line], delimiter=sign)))
    )
    text = io.StringIO(start.decode("utf-8-sig", "replace"), newline="")
    names = next(csv.reader(text, delimiter=delimiter, skipinitialspace=True))
    return tuple(name.strip() for name in names), delimiter


def _check_lines(file: IO[bytes], windows: bool, label: str) -> None:
    """Refuse a line that DuckDB does not read for its length.

    And a carriage return that ends no line: readers do not agree on what it means.
    """
    wrong = re.compile(rb"\r(?!\n)" if windows else rb"\r")
    line, length = 1, 0
    while chunk := file.read(_CHUNK):
        if chunk.endswith(b"\r"):
            chunk += file.read(1)
        if stray := wrong.search(chunk):
            line += chunk[: stray.start()].count(b"\n")
            raise DataError(
                f"Line {line:,} of {label} has a carriage "
                "return that ends no line as the header's does; save the file with one kind of "
                "line end."
            )
        line += chunk.count(b"\n")
        length = (0 if b"\n" in chunk else length) + len(chunk) - chunk.rfind(b"\n") - 1
        if length > _LONGEST:
            raise DataError(f"Line {line:,} of {label} is longer than 2 MB; correct it.")


# Workbooks and databases ----------------------------------------------------------------------


def _stored(asked: _Asked, rows: Iterator[Sequence[Any]]) -> _Found:
    """Rows of cells, the first of them names, as a table of text in DuckDB's memory."""
    import pyarrow as pa

    names = [_typed(cell) or "" for cell in next(rows, ())]
    if not names:
        raise DataError(f"{asked.label} is empty there; name another sheet or table.")
    schema = pa.schema([(f"c{k}", pa.string()) for k in range(len(names))])
    parts = iter(lambda: list(islice(rows, 1 << 14)), [])
    batches = (
        pa.record_batch([list(map(_typed, cells)) for cells in zip(*part, strict=True)], schema)
        for part in parts
    )
    asked.con.register("part", pa.RecordBatchReader.from_batches(schema, batches))
    asked.con.execute("CREATE TABLE cells AS SELECT * FROM part")
    if asked.least is not None:
        blank, count = ", ".join(["NULL"] * len(names)), "(SELECT count(*) FROM cells)"
        asked.con.execute(
            f"INSERT INTO cells SELECT {blank} FROM range(greatest(0, {asked.least} - {count}))"
        )
    return "cells", names


def _typed(cell: Any) -> str | None:
    """A cell as a person would type it."""
    whole = isinstance(cell, float) and cell.is_integer() and abs(cell) < 2**53
    return _word(int(cell) if whole else cell)


def _sheet(asked: _Asked) -> _Found:
    """A sheet's rows, from the first that holds anything."""
    from python_calamine import CalamineWorkbook

    path, label, sheet = asked.source, asked.label, asked.sheet
    try:
        if zipfile.is_zipfile(path):  # the format before 2007 has small sheets
            _check_book(path, label)
        with path.open("rb") as file:
            book = CalamineWorkbook.from_filelike(file)
        names = book.sheet_names
        if sheet is not None and sheet not in names:
            known = ", ".join(names[:5])
            raise InputError(f"{label} has no sheet {show(sheet)}; it has {known}.")
        rows = book.get_sheet_by_name(sheet or names[0]).iter_rows()
    except (InputError, KeyboardInterrupt, MemoryError):
        raise
    except BaseException:  # the reader panics on some files, which is no Exception
        raise DataError(f"{label} cannot be read as a workbook; save it as CSV.") from None
    return _stored(asked, dropwhile(lambda row: all(cell == "" for cell in row), rows))


_PLACE = re.compile(rb"""\br\s*=\s*["']([A-Z]*)(\d+)["']""", re.IGNORECASE)


def _check_book(path: Path, label: str) -> None:
    """Refuse a workbook that unpacks to more than 1 GB, or names a cell that is very far away.

    Its reader holds the whole area up to the last cell, in memory that cannot be bounded there.
    """
    unpacked = 0
    with zipfile.ZipFile(path) as book:
        for part in book.infolist():
            width = height = 1
            tail = b""
            with book.open(part) as file:
                while chunk := file.read(_CHUNK):
                    unpacked += len(chunk)
                    for letters, row in _PLACE.findall(tail + chunk):
                        column = reduce(lambda k, letter: 26 * k + letter - 64, letters.upper(), 0)
                        width, height = max(width, column), max(height, int(row))
                    if unpacked > _MOST_UNPACKED or width * height > _MOST_CELLS:
                        raise DataError(f"{label} is too large a workbook; save it as CSV.")
                    tail = chunk[-64:]


# What a statement that only reads may do.
_READING = (
    *(sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ),
    *(sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE),
)


def _sqlite(asked: _Asked) -> _Found:
    """What a query on a SQLite file gives; it is opened for reading alone."""
    path = asked.source
    # A log next to the file may hold rows; without one the file is not even locked.
    log = path.with_name(f"{path.name}-wal")
    still = "" if log.exists() and log.stat().st_size else "&immutable=1"
    place = f"{path.resolve().as_uri()}?mode=ro{still}"
    try:
        with closing(sqlite3.connect(place, uri=True, check_same_thread=False)) as connection:
            connection.set_authorizer(
                lambda action, *_: sqlite3.SQLITE_OK if action in _READING else sqlite3.SQLITE_DENY
            )
            connection.text_factory = bytes
            listed = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view')"
            tables = [name.decode() for (name,) in connection.execute(listed)]
            cursor = connection.execute(asked.query or _whole(asked, tables))
            if cursor.description is None:
                raise InputError("The query gives no table; write a SELECT.")
            return _stored(asked, chain([[name for name, *_ in cursor.description]], cursor))
    except (sqlite3.Error, sqlite3.Warning):
        raise InputError(f"{asked.label} does not answer the query; check its SQL.") from None


def _query(asked: _Asked) -> _Found:
    """A query on a DuckDB file, which reads nothing outside it, or its only table."""
    import duckdb

    asked.con.execute("SET enable_external_access = false")
    if asked.query is None:
        listed = "SELECT table_name FROM information_schema.tables"
        return (
            f"({_whole(asked, [name for (name,) in asked.con.execute(listed).fetchall()])})",
            None,
        )
    kinds = [one.type for one in asked.con.extract_statements(asked.query)]
    if kinds != [duckdb.StatementType.SELECT]:
        raise InputError("The query gives no table; write a SELECT.")
    return f"({asked.query.strip().rstrip(';')})", None


def _whole(asked: _Asked, tables: list[str]) -> str:
    """The query that reads a database's only table."""
    if len(tables) != 1:
        known = ", ".join(tables[:5]) or "none"
        raise InputError(f"Say what to read of {asked.label} (query); its tables are {known}.")
    return 'SELECT * FROM "{}"'.format(tables[0].replace('"', '""'))


_READERS: dict[str, Callable[[_Asked], _Found]] = {
    "text": _text,
    "parquet": _parquet,
    "arrow": _arrow,
    "frame": _frame,
    "excel": _sheet,
    "sqlite": _sqlite,
    "duckdb": _query,
}
