"""The one way in for a table: a schema becomes one SQL projection, and DuckDB runs it.

A CSV or Parquet file or a folder of either, an Arrow file, a frame, a sheet of a workbook, a query
on a database file: each is a relation with columns called c0, c1, … What a cell means is a function
of that cell and of the schema, one SQL expression a column:

1. blanks around it mean nothing;
2. the exact text of a level; else
3. a level that is the same number (1, 1.0, True and "true" alike); else
4. a level that is the same word in another case, where one level alone fits; else
5. of a numeric column a number between two cut points, or the label of such an interval; else
6. it matches no level and counts as the column's ``other``. How many such cells there are is
   reported to the table's owner, apart from the result (:class:`Unforeseen`).

Rows are counted, never held: the result is the distinct rows of codes and how often each occurs. A
file that is not well-formed in its dialect is refused with the line's number and without a cell.
DuckDB writes nothing to a disk, and none of its messages, which quote cells, is shown.
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
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from functools import reduce
from itertools import dropwhile, islice
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.data.column import ADDED, LEVEL, MOST_COLUMNS, PLAIN, Column, Dialect, Person, repeated
from engine.data.spreadsheets import safe, unsafe
from engine.errors import DataError, InputError, did_you_mean, show, writable

Source = str | os.PathLike[str] | bytes | IO[str] | IO[bytes]
Names = list[str] | None  # of a relation; None where DuckDB says them

# Cells that stand for none, in any case; a level of the same text is that level all the same.
GAPS = ("", "?", "na", "n/a", "nan", "null", "<na>", "nat", "#n/a")
ASKED = 0.05  # of a column's cells: more that count as an answer are a question
GRAIN = 1_000_000  # sums are of whole millionths: exact, whatever the order of a person's rows
_BLANKS = "".join(map(chr, (*range(9, 14), *range(28, 33), 0x85, 0xA0, *range(0x2000, 0x200B))))
BLANKS = f"{_BLANKS}\u2028\u2029\u202f\u205f\u3000\ufeff"
DELIMITERS = (",", ";", "\t", "|")
_ENDINGS = {"parquet": (".parquet", ".pq"), "text": (".csv", ".tsv", ".txt", ".gz")}
_BOOKS = (".xlsx", ".xlsm", ".xls")
_MARKS = {
    b"PAR1": "parquet",
    b"SQLite format 3\0": "sqlite",
    b"ARROW1": "arrow",
    b"\xff\xff\xff\xff": "arrow",
}
_NUMBERS = re.compile(r"(U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|DOUBLE)$")
_CHUNK = 1 << 20  # bytes read at a time; the header's line ends in the first
_LONGEST = 2 * _CHUNK  # bytes of a line that DuckDB reads
_MOST_UNPACKED, _MOST_CELLS = 1 << 30, 20_000_000  # of a workbook: bytes, and cells of its area
_SHOWN = 5  # of a column's cells that match no level
# A bounded memory, no disk, and no look at Python's variables.
_SETTINGS = """SET memory_limit = '60%'; SET temp_directory = ''; SET TimeZone = 'UTC';
SET python_enable_replacements = false; SET preserve_insertion_order = false; SET threads = """


class Named(NamedTuple):
    """The bytes of a table, and what it is called."""

    raw: bytes
    name: str


class Relation(NamedTuple):
    """A table that DuckDB can read: what to select from, and its columns.

    ``levels`` are those that the table itself declares (ordered categories of a frame), by column.
    """

    con: Any
    sql: str
    names: list[str]
    types: list[str]
    label: str
    dialect: Dialect
    levels: dict[str, list[str]]

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


@dataclass(frozen=True)
class Unforeseen:
    """Cells of one column that match no level: exact facts of private rows, for their owner alone.

    ``cells`` of ``of`` cells; ``looks`` like some of them; ``to`` is the level they count as, None
    where the schema states none. ``empty`` cells are apart from others, and ``foreseen`` where that
    level is there for them.
    """

    column: str
    cells: int
    of: int
    looks: tuple[str, ...] = field(repr=False)
    to: str | None
    empty: bool
    foreseen: bool = False

    @property
    def asks(self) -> bool:
        """Whether they are so many, and count as an answer, that somebody has to agree."""
        return not self.foreseen and self.cells > ASKED * self.of

    def __str__(self) -> str:
        """In words, without a cell."""
        share = f"{100 * self.cells / self.of:.2g} %"
        kind = "empty" if self.empty else "no level"
        to = "" if self.to is None else f" and count as {self.to!r}"
        return f"{show(self.column)}: {self.cells:,} of {self.of:,} cells ({share}) are {kind}{to}"


# Where a table comes from ---------------------------------------------------------------------


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

    if isinstance(source, np.ndarray):
        source = framed(source)
    with ExitStack() as stack:
        label, kind, path = _found(stack, source)
        if query is not None and kind not in ("sqlite", "duckdb"):
            raise InputError("A query needs a SQLite or DuckDB file.")
        if sheet is not None and kind != "excel":
            raise InputError("A sheet needs an Excel workbook.")
        names: Names = None
        levels: dict[str, list[str]] = {}
        try:
            place = (str(path), True) if kind == "duckdb" else (":memory:", False)
            con = stack.enter_context(duckdb.connect(*place))
            cores = getattr(os, "sched_getaffinity", lambda _: range(os.cpu_count() or 1))(0)
            con.execute(f"{_SETTINGS}{len(cores)}")
            if kind == "text":
                sql, names = _text(stack, path, dialect, label)
            elif kind in ("excel", "sqlite"):
                rows = _sheet(path, sheet, label) if kind == "excel" else _sqlite(path, query)
                sql, names = _stored(con, rows, label, least)
            elif kind == "frame":
                sql, levels = _frame(con, source)
            else:
                sql = _query(con, path, query) if kind == "duckdb" else _columnar(con, path, kind)
            described = con.execute(f"DESCRIBE SELECT * FROM {sql}").fetchall()
            if names is None:
                names = [row[0] for row in described]
                sql = f"{sql} t({', '.join(f'c{k}' for k in range(len(names)))})"
            check_names(names, label)
            yield Relation(con, sql, names, [row[1] for row in described], label, dialect, levels)
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


def check_names(names: Sequence[str], label: str) -> None:
    """Refuse a table with columns that cannot be distinguished; DataError."""
    named = [name for name in names if name.strip()]
    if len(named) < 2:
        raise DataError(f"{label} has fewer than two columns with a name; give two.")
    if len(set(named)) < len(named):
        twice = show(repeated(named))
        raise DataError(f"Two columns of {label} are called {twice}; rename or delete one.")
    if len(named) > MOST_COLUMNS:
        raise DataError(f"{label} has {len(named):,} columns; keep at most {MOST_COLUMNS:,}.")


def _found(stack: ExitStack, source: Any) -> tuple[str, str, Path]:
    """What a table is called, what kind it is, and the path of its file or folder."""
    if hasattr(source, "__arrow_c_stream__"):
        return "data", "frame", Path()
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        return path.name, _kind(path, path.suffix), path
    raw, label = read_bytes(source)
    file, path = _memory(stack)
    file.write(raw)
    file.flush()
    return label, _kind(path, Path(label).suffix or ".xlsx"), path


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
    except FileNotFoundError:
        raise DataError(f"There is no file {show(str(path))}; check its path.") from None
    except OSError:
        raise DataError(f"{show(str(path))} cannot be read as a file; check it.") from None
    if start[8:12] == b"DUCK":
        return "duckdb"
    if start.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0")) and suffix.lower() in _BOOKS:
        return "excel"
    return next((kind for mark, kind in _MARKS.items() if start.startswith(mark)), "text")


def read_bytes(source: Any, most: int = 1 << 40) -> tuple[bytes, str]:
    """What a short file, bytes or an open file hold, and what they are called; DataError."""
    if isinstance(source, Named):
        return source
    label = "data"
    if isinstance(source, bytes | bytearray):
        raw: Any = bytes(source)
    elif isinstance(source, str | os.PathLike):
        path = Path(source)
        _kind(path, "")  # says what is wrong with it
        with path.open("rb") as file:
            raw, label = file.read(most + 1), path.name
    elif hasattr(source, "read"):
        name, raw = getattr(source, "name", None), source.read()
        label = Path(name).name if isinstance(name, str) and name else label
    else:
        called = "nothing" if source is None else f"of the type {type(source).__name__}"
        raise InputError(
            "The data are a frame (pandas, Polars, Arrow), an array, bytes, an open file or the "
            f"path of a file, not {called}."
        )
    if len(raw) > most:
        raise DataError(f"{label} is larger than {most // 1_000_000} MB.")
    return raw.encode("utf-8", "replace") if isinstance(raw, str) else raw, label


def _memory(stack: ExitStack) -> tuple[IO[bytes], Path]:
    """A file in memory (or a private one that is deleted), and its path."""
    if hasattr(os, "memfd_create"):
        file: IO[bytes] = stack.enter_context(os.fdopen(os.memfd_create("table"), "wb"))
        return file, Path(f"/proc/self/fd/{file.fileno()}")
    kept = stack.enter_context(NamedTemporaryFile())  # noqa: SIM115
    return kept, Path(kept.name)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def listed(words: Iterable[str]) -> str:
    """Words as SQL writes them."""
    return ", ".join(map(_quoted, words))


def _files(path: Path, kind: str) -> list[Path]:
    """The file itself, or those of a folder."""
    if not path.is_dir():
        return [path]
    return sorted(p for p in path.rglob("*") if p.suffix.lower() in _ENDINGS[kind])


def _places(paths: Iterable[Path]) -> str:
    """Paths as DuckDB takes them, without what a glob would read into a name."""
    bare = listed(re.sub(r"([*?[])", r"[\1]", str(path)) for path in paths)
    return f"[{bare}]"


def _columnar(con: Any, path: Path, kind: str) -> str:
    """A Parquet file, a folder of them, or an Arrow file."""
    if kind == "parquet":
        return f"read_parquet({_places(_files(path, kind))})"
    import pyarrow as pa

    try:
        with pa.memory_map(str(path)) as file:
            opening = pa.ipc.open_file if file.read(6) == b"ARROW1" else pa.ipc.open_stream
            file.seek(0)
            con.register("source", opening(file).read_all())
    except (pa.ArrowException, OSError):
        raise DataError(f"{path.name} cannot be read as arrow; check the file.") from None
    return "source"


# Frames ---------------------------------------------------------------------------------------


def framed(array: np.ndarray, names: Sequence[str] | None = None) -> Any:
    """An (n, d) array as a frame with these names, or X0, X1 and so on."""
    import pandas as pd

    if array.ndim != 2 or array.dtype.kind not in "biufOUST":
        raise DataError("An array of data has rows and columns of numbers or words.")
    names = names or [f"X{j}" for j in range(array.shape[1])]
    if len(names) != array.shape[1]:
        raise DataError(f"The array has {array.shape[1]} columns but the schema {len(names)}.")
    return pd.DataFrame(array, columns=list(names))


def _frame(con: Any, source: Any) -> tuple[str, dict[str, list[str]]]:
    """A pandas, Polars or Arrow table, and the levels that its categories declare."""
    import pyarrow as pa

    ours = type(source).__module__.partition(".")[0] == "pandas"
    if ours and getattr(source, "columns", None) is None:
        raise DataError("A single column is no table; give a frame of two columns or more.")
    if ours:
        check_names([str(name) for name in source.columns], "the frame")
    try:
        table = pa.table(_worded(source) if ours else source)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        raise DataError(
            "The frame has a column of a type that is not read; make it text, numbers or dates."
        ) from None
    levels = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        kind = column.type
        if pa.types.is_dictionary(kind) and (kind.ordered or ours) and column.num_chunks:
            words = [str(word) for word in column.chunk(0).dictionary.to_pylist()]
            known = set(words) if kind.ordered else set(map(str, column.unique().to_pylist()))
            levels[str(name)] = [word for word in words if word in known]
    con.register("source", table)
    return "source", levels


# Types of pandas with cells of separate types: Arrow would find one type for all of them,
# which one record can change.
_WORDED = ("period", "interval", "object")


def _worded(frame: Any) -> Any:
    out = frame.reset_index(drop=True)
    out.columns = [str(name) for name in out.columns]
    for place, kind in enumerate(out.dtypes):
        held = getattr(getattr(kind, "categories", None), "dtype", kind)
        if str(held).partition("[")[0] in _WORDED:
            words = out.iloc[:, place].astype(object).map(_word)
            if held is not kind and len(set(map(str, kind.categories))) == len(kind.categories):
                dtype = type(kind)([_word(word) for word in kind.categories], kind.ordered)
                out.isetitem(place, words.astype(dtype))
            else:
                out.isetitem(place, words.astype("string"))
    return out


def _word(value: Any) -> str | None:
    """A cell of any type as text that is valid everywhere."""
    return None if value is None else str(value).encode("utf-8", "replace").decode()


# Delimited text -------------------------------------------------------------------------------

Head = tuple[tuple[str, ...], str, int]  # names, delimiter, lines above the first record


def _text(stack: ExitStack, path: Path, dialect: Dialect, label: str) -> tuple[str, list[str]]:
    """Delimited text, or a folder of it, as a relation of text columns; and their names."""
    staged = [_staged(stack, file, dialect, label) for file in _files(path, "text")]
    heads = {(packed, *head) for _, packed, head in staged}
    if len(heads) > 1:
        raise DataError(f"The files of {label} do not have the same header; make them alike.")
    [(packed, names, delimiter, skip)] = heads
    columns = ", ".join(f"'c{k}': 'VARCHAR'" for k in range(len(names)))
    sql = (
        f"read_csv({_places(place for place, *_ in staged)}, auto_detect=false, header=false, "
        f"skip={skip}, delim={_quoted(delimiter)}, quote='\"', escape='\"', "
        f"columns={{{columns}}}, compression='{'gzip' if packed else 'none'}', "
        "strict_mode=true, null_padding=false)"
    )
    return sql, list(names)


def _staged(stack: ExitStack, path: Path, dialect: Dialect, label: str) -> tuple[Path, bool, Head]:
    """The place of text in UTF-8 (in memory where it is not), whether it is packed, its head."""
    encoding = dialect.encoding
    try:
        with path.open("rb") as file:
            packed = file.read(2) == b"\x1f\x8b"
        with _unpacked(path, packed) as plain:
            if plain.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
                encoding = "utf-16"  # no UTF-8 text begins so
            if encoding != "utf-8":
                plain.seek(0)
                target, path = _memory(stack)
                chunks = iter(lambda: plain.read(_CHUNK), b"")
                target.writelines(chunk.encode() for chunk in codecs.iterdecode(chunks, encoding))
                target.flush()
                packed = False
        with _unpacked(path, packed) as plain:
            head, end = _head(plain.read(_CHUNK), dialect, label)
            plain.seek(0)
            _check_lines(plain, end, label)
    except UnicodeError:
        raise DataError(f"{label} is not {encoding} text; say its encoding.") from None
    except (OSError, EOFError, zlib.error):
        raise DataError(f"{label} cannot be unpacked; check the file.") from None
    return path, packed, head


def _unpacked(path: Path, packed: bool) -> IO[bytes]:
    return gzip.open(path) if packed else path.open("rb")  # type: ignore[return-value]


def _head(raw: bytes, dialect: Dialect, label: str) -> tuple[Head, bytes]:
    """The header, below blank lines, comments and a line ``sep=;``; and how lines end.

    No record is read.
    """
    lines = io.StringIO(raw.decode("utf-8-sig", "surrogateescape"), newline="").readlines()
    delimiter, skip = dialect.delimiter, 0
    for line in lines:
        said = line.lstrip().rstrip("\r\n")
        if said.lower().startswith("sep=") and said[4:] in DELIMITERS:
            delimiter = said[4:]
        elif said.strip() and not said.startswith("#"):
            break
        skip += 1
    else:
        raise DataError(f"{label} is empty; give a file with a header line and rows.")
    if "\0" in lines[skip]:
        raise DataError(f"{label} is not a text file; save the table as CSV in UTF-8.")
    if delimiter is None:
        delimiter = max(DELIMITERS, key=lambda s: len(next(csv.reader([lines[skip]], delimiter=s))))
    reader = csv.reader(lines[skip:], delimiter=delimiter, skipinitialspace=True)
    try:
        names = tuple(name.strip() for name in next(reader))
    except csv.Error:
        raise DataError(f"The header of {label} cannot be read; check its quotes.") from None
    if not all(map(writable, names)):
        raise DataError(
            f"{label} is not UTF-8 text; save it as CSV in UTF-8, or say its encoding "
            "(utf-16 or latin-1)."
        )
    last = lines[skip + reader.line_num - 1]
    return (names, delimiter, skip + 1), last[len(last.rstrip("\r\n")) :].encode()


def _check_lines(file: IO[bytes], end: bytes, label: str) -> None:
    """Refuse a line that is too long, before the rest of the file is unpacked.

    And a carriage return that ends no line: readers do not agree on what it means.
    """
    wrong = re.compile({b"\r\n": rb"\r(?!\n)", b"\r": rb"\n"}.get(end, rb"\r"))
    line, last, length = 1, end[-1:] or b"\n", 0
    while chunk := file.read(_CHUNK):
        if chunk.endswith(b"\r"):
            chunk += file.read(1)
        if stray := wrong.search(chunk):
            raise DataError(
                f"Line {line + chunk[: stray.start()].count(last):,} of {label} has a carriage "
                "return or line feed that ends no line as the header's does; save the file with "
                "one kind of line end."
            )
        line += chunk.count(last)
        length = (0 if last in chunk else length) + len(chunk) - chunk.rfind(last) - 1
        if length > _LONGEST:
            raise DataError(f"Line {line:,} of {label} is longer than 2 MB; correct it.")


# Workbooks and databases ----------------------------------------------------------------------


def _stored(
    con: Any, rows: Iterator[Sequence[Any]], label: str, least: int | None
) -> tuple[str, list[str]]:
    """Rows of cells, the first of them names, as a table of text in DuckDB's memory; its names."""
    import pyarrow as pa

    names = [_cell(cell) or "" for cell in next(rows, ())]
    if not names:
        raise DataError(f"{label} is empty there; name another sheet or table.")
    schema = pa.schema([(f"c{k}", pa.string()) for k in range(len(names))])
    parts = iter(lambda: list(islice(rows, 1 << 14)), [])
    batches = (
        pa.record_batch(
            [pa.array(map(_cell, cells), pa.string()) for cells in zip(*part, strict=True)], schema
        )
        for part in parts
    )
    con.register("part", pa.RecordBatchReader.from_batches(schema, batches))
    con.execute("CREATE TABLE cells AS SELECT * FROM part")
    con.unregister("part")
    [[count]] = con.execute("SELECT count(*) FROM cells").fetchall()
    blank = ", ".join(["NULL"] * len(names))
    con.execute(f"INSERT INTO cells SELECT {blank} FROM range({max(0, (least or 0) - count)})")
    return "cells", names


def _cell(cell: Any) -> str | None:
    """A cell as a person would type it."""
    if isinstance(cell, bytes):
        cell = cell.decode("utf-8", "replace")
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 2**53:
        return str(int(cell))
    return _word(cell)


def _sheet(path: Path, sheet: str | None, label: str) -> Iterator[Sequence[Any]]:
    """A sheet's rows, from the first that holds anything."""
    from python_calamine import CalamineWorkbook

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
    return dropwhile(lambda row: all(cell == "" for cell in row), rows)


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


def _sqlite(path: Path, query: str | None) -> Iterator[Sequence[Any]]:
    """What a query on a SQLite file gives, its names first; it is opened for reading alone."""
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
            cursor = connection.execute(query or _whole(path, tables))
            if cursor.description is None:
                raise InputError("The query gives no table; write a SELECT.")
            yield [column[0] for column in cursor.description]
            yield from cursor
    except (sqlite3.Error, sqlite3.Warning):
        raise InputError(f"{path.name} does not answer the query; check its SQL.") from None


def _query(con: Any, path: Path, query: str | None) -> str:
    """A query on a DuckDB file, which reads nothing outside it, or its only table."""
    import duckdb

    con.execute("SET enable_external_access = false")
    if query is None:
        found = con.execute("SELECT table_name FROM information_schema.tables").fetchall()
        return f"({_whole(path, [name for (name,) in found])})"
    kinds = [one.type for one in con.extract_statements(query)]
    if kinds != [duckdb.StatementType.SELECT]:
        raise InputError("The query gives no table; write a SELECT.")
    return f"({query.strip().rstrip(';')})"


def _whole(path: Path, tables: list[str]) -> str:
    if len(tables) != 1:
        known = ", ".join(tables[:5]) or "none"
        raise InputError(f"Say what to read of {path.name} (query); its tables are {known}.")
    return 'SELECT * FROM "{}"'.format(tables[0].replace('"', '""'))


# What a cell means ----------------------------------------------------------------------------


def trimmed(cell: str) -> str:
    """The SQL of a cell's text without the blanks around it."""
    return f"trim({cell}, {_quoted(BLANKS)})"


def number(cell: str, dialect: Dialect) -> str:
    """The SQL of a cell's number, true being 1 and false 0; NULL or not finite where it is none."""
    text, decimal = trimmed(cell), dialect.decimal
    plain = text
    if decimal == ",":
        plain = f"CASE WHEN contains({text}, '.') THEN NULL ELSE replace({text}, ',', '.') END"
    if dialect.thousands:
        cut, point = re.escape(dialect.thousands), re.escape(decimal)
        grouped = _quoted(rf"[+-]?\d{{1,3}}({cut}\d{{3}})+({point}\d*)?")
        bare = f"replace(replace({text}, {_quoted(dialect.thousands)}, ''), '{decimal}', '.')"
        plain = f"CASE WHEN regexp_full_match({text}, {grouped}) THEN {bare} ELSE {plain} END"
    return (
        f"(CASE lower({text}) WHEN 'true' THEN 1.0 WHEN 'false' THEN 0.0 "
        f"ELSE try_cast({plain} AS DOUBLE) END)"
    )


@dataclass(frozen=True)
class Cell:
    """One column's cells in SQL: as they are stored, as text, as numbers, and which are empty."""

    stored: str
    text: str
    number: str
    quick: str | None  # a cheap number that is right where it is finite; else there is none
    gap: str

    @classmethod
    def of(cls, table: Relation, name: str, part: str | None = None) -> Cell:
        """Of a table's column; ``part`` of its dates in their place where it is named."""
        at, dialect = table.at(name), table.dialect
        kind = table.types[at]
        stored = f"c{at}" if kind == "VARCHAR" else f"CAST(c{at} AS VARCHAR)"
        quick = None
        if part is not None:
            stored = f"coalesce(CAST({part}(try_cast({stored} AS TIMESTAMP)) AS VARCHAR), {stored})"
        elif _NUMBERS.match(kind):
            quick = f"CAST(c{at} AS DOUBLE)"
        elif dialect.decimal == ".":
            quick = f"try_cast({stored} AS DOUBLE)"
        text = trimmed(stored)
        gap = f"(lower(coalesce({text}, '')) IN ({listed(GAPS)}))"
        return cls(stored, text, number(stored, dialect), quick, gap)


def code(table: Relation, column: Column, cell: Cell, shift: int = 0) -> str:
    """The SQL of a cell's code, shifted; K where it matches no level, K + 1 where empty.

    The exact text, or the cheap number, is looked at first: what follows is for the other cells.
    """

    def then(i: int) -> str:
        return f"{i << shift}::UBIGINT"

    def when(what: str, known: dict[Any, int], sign: str = "=") -> str:
        keys = (f"{k!r}::DOUBLE" if isinstance(k, float) else _quoted(k) for k in known)
        arms = zip(keys, known.values(), strict=True)
        return " ".join(f"WHEN {what} {sign} {key} THEN {then(i)}" for key, i in arms)

    rest = f"WHEN {cell.gap} THEN {then(column.size + 1)} ELSE {then(column.size)} END)"
    if column.type == "numeric":
        points = {point: i for i, point in enumerate(column.points())}
        labels = () if column.take in ADDED else column.labels
        named = when(cell.text, {word: i for i, word in enumerate(labels)})

        def cut(value: str) -> str:
            below = when(value, points, "<")
            return f"WHEN isfinite({value}) THEN (CASE {below} ELSE {then(len(points))} END)"

        slow = f"(CASE {cut(cell.number)} {named} {rest}"
        return slow if cell.quick is None else f"(CASE {cut(cell.quick)} ELSE {slow} END)"
    exact = {safe(word): i for i, word in enumerate(column.levels)}
    exact |= {word: i for i, word in enumerate(column.levels)}
    same, alike = _keys(table, column.levels)
    looser = (
        when(cell.text, {word.strip(): i for word, i in exact.items()}),
        when(cell.number, same),
        when(f"lower({cell.text})", alike),
    )
    return f"(CASE {when(cell.stored, exact)} ELSE (CASE {' '.join(looser)} {rest} END)"


def _keys(table: Relation, levels: Sequence[str]) -> tuple[dict[float, int], dict[str, int]]:
    """Levels by their number, and by their lower case where that is one level's alone."""
    asked = (
        f"SELECT {number('w', table.dialect)}, lower({trimmed('w')}) "
        f"FROM (SELECT unnest([{listed(levels)}]) AS w)"
    )
    found = table.con.execute(asked).fetchall()
    numbers: dict[float, int] = {}
    words = [word for _, word in found]
    for i, (value, _) in enumerate(found):
        if value is not None and np.isfinite(value):
            numbers.setdefault(value, i)
    return numbers, {w: i for i, w in enumerate(words) if w and words.count(w) == 1}


# The projection -------------------------------------------------------------------------------

Folded = tuple[np.ndarray, np.ndarray]


def project(
    table: Relation, columns: Sequence[Column], person: Person | None = None
) -> tuple[Folded, tuple[Unforeseen, ...]]:
    """The table's distinct rows of codes (k, d) with their counts (k,), and what matched no level.

    With a ``person`` a row is a person's. Who reads refuses what matched no level of a column that
    states no ``other``.
    """
    cells = {c.name: Cell.of(table, c.name, c.part) for c in columns if c.take != "count"}
    if person is not None:
        return _persons(table, columns, person, cells)

    def term(column: Column) -> Callable[[int], str]:
        return lambda shift: code(table, column, cells[column.name], shift)

    sizes = [column.size for column in columns]
    codes, weights = _counted(
        table.con, list(map(term, columns)), [s + 2 for s in sizes], table.sql
    )
    if not len(codes) or (codes.max(axis=0) < sizes).all():
        return (codes, weights), ()
    counts = {}
    for column, found in zip(columns, codes.T, strict=True):
        counts[column.name] = [int(weights[found == column.size + e].sum()) for e in (0, 1)]
        found[found >= column.size] = column.other_code or 0
    _, first, inverse = np.unique(
        mixed_radix_keys(codes, sizes), return_index=True, return_inverse=True
    )
    total = np.bincount(inverse, weights).astype(np.int64)  # sums below 2^53 are exact
    return (codes[first], total), _unforeseen(table, columns, cells, counts, int(weights.sum()))


def _counted(
    con: Any, terms: Sequence[Callable[[int], str]], sizes: Sequence[int], source: str
) -> Folded:
    """The distinct rows of a source, ascending, and how often each occurs.

    A row's codes are bits of one whole number or a few, by which rows are grouped: a term is the
    SQL of a column's code, shifted to its place.
    """
    keys: list[list[str]] = [[]]
    places = []
    left = 64
    for term, size in zip(terms, sizes, strict=True):
        bits = (size - 1).bit_length()
        if bits > left:
            keys.append([])
            left = 64
        left -= bits
        keys[-1].append(term(left))
        places.append((len(keys) - 1, left, np.uint64((1 << bits) - 1)))
    named = ", ".join(f"{' | '.join(key)} AS k{i}" for i, key in enumerate(keys))
    asked = f"SELECT {named}, count(*) AS n FROM {source} GROUP BY ALL"
    found = con.execute(asked).fetchnumpy()
    order = np.lexsort([found[f"k{i}"] for i in reversed(range(len(keys)))])
    numbers = [found[f"k{i}"].astype(np.uint64)[order] for i in range(len(keys))]
    codes = np.empty((len(order), len(sizes)), np.uint8, order="F")
    for j, (key, shift, mask) in enumerate(places):
        codes[:, j] = (numbers[key] >> np.uint64(shift)) & mask
    return codes, found["n"].astype(np.int64)[order]


def mixed_radix_keys(
    codes: NDArray[np.unsignedinteger], cardinalities: Sequence[int]
) -> NDArray[np.int64]:
    """One integer a row that is equal for equal rows; compressed where it would overflow."""
    keys = np.zeros(codes.shape[0], np.int64)
    size = 1
    for column, levels in enumerate(cardinalities):
        if size > (1 << 62) // max(levels, 1):
            distinct, keys = np.unique(keys, return_inverse=True)
            keys, size = keys.astype(np.int64), len(distinct)
        keys = keys * levels + codes[:, column]
        size *= levels
    return keys


def _unforeseen(
    table: Relation,
    columns: Sequence[Column],
    cells: dict[str, Cell],
    counts: Mapping[str, Sequence[int]],
    total: int,
) -> tuple[Unforeseen, ...]:
    """What matched no level: a line a column, and one for its empty cells."""
    found = []
    for column in columns:
        other, name = column.other_code, column.name
        strange, empty = counts.get(name, (0, 0))
        to = None if other is None else column.labels[other]
        if strange:
            cell = cells[name]
            words = table.rows(
                f"left({cell.text}, 40), count(*) AS n",
                f"WHERE {code(table, column, cell)} = {column.size} "
                f"GROUP BY ALL ORDER BY n DESC, 1 LIMIT {_SHOWN}",
            )
            looks = tuple(word for word, _ in words)
            found.append(Unforeseen(name, strange, total, looks, to, empty=False))
        if empty:
            own = column.has_gap_level
            found.append(Unforeseen(name, empty, total, (), to, empty=True, foreseen=own))
    return tuple(found)


# One row a person -----------------------------------------------------------------------------


def _persons(
    table: Relation, columns: Sequence[Column], person: Person, cells: dict[str, Cell]
) -> tuple[Folded, tuple[Unforeseen, ...]]:
    """One row a person: a function of that person's rows alone, whatever their order.

    A tie in the order counts as its lowest level, as does one between the most frequent. A row
    without an id is no person's, and is reported with what matched no level.
    """
    owner = Cell.of(table, person.id)
    small = f"isfinite({owner.number}) AND abs({owner.number}) < 9007199254740992"
    named = f"CASE WHEN {small} THEN CAST({owner.number} AS VARCHAR) ELSE {owner.text} END"
    inner = [f"CASE WHEN NOT {owner.gap} THEN {named} END AS person", _order(table, person)]
    counted = ["count(*)", "count(*) FILTER (person IS NULL)"]
    for j, column in enumerate(columns):
        if (cell := cells.get(column.name)) is not None:
            inner.append(f"{code(table, column, cell)} AS e{j}")
            counted += [f"count(*) FILTER (e{j} = {column.size + e})" for e in (0, 1)]
            inner += [f"{_grains(cell, column)} AS v{j}"] * (column.take == "sum")
    visits = f"(SELECT {', '.join(inner)} FROM {table.sql})"
    asked = f"SELECT {', '.join(counted)} FROM {visits}"
    [[total, nobody, *flat]] = table.con.execute(asked).fetchall()
    counts = dict(zip(cells, zip(flat[::2], flat[1::2], strict=True), strict=True))
    unforeseen = _unforeseen(table, columns, cells, counts, total)
    if nobody:
        unforeseen += (Unforeseen(person.id, nobody, total, (), "nobody: left out", empty=True),)
    taken = ", ".join(f"{_taken(column, j)} AS a{j}" for j, column in enumerate(columns))
    one = f"(SELECT {taken} FROM {visits} WHERE person IS NOT NULL GROUP BY person)"
    terms = [f"(a{j}::UBIGINT << {{}})".format for j in range(len(columns))]
    return _counted(table.con, terms, [column.size for column in columns], one), unforeseen


def _order(table: Relation, person: Person) -> str:
    """Each row's place in its person's order: a number or a date, before all others without one."""
    if person.order is None:
        return "0.0 AS place"
    cell = Cell.of(table, person.order)
    moment = f"epoch(try_cast({cell.text} AS TIMESTAMP))"
    value = f"CASE WHEN isfinite({cell.number}) THEN {cell.number} ELSE {moment} END"
    return f"coalesce({value}, '-infinity'::DOUBLE) AS place"


def _grains(cell: Cell, column: Column) -> str:
    """A row's number in whole millionths."""
    rest = f"{float(column.other)!r}::DOUBLE" if isinstance(column.other, int | float) else "NULL"
    value = f"(CASE WHEN isfinite({cell.number}) THEN {cell.number} ELSE {rest} END)"
    most = 9e12  # beyond it a row's number counts as that
    bounded = f"least(greatest({value}, {-most!r}::DOUBLE), {most!r}::DOUBLE)"
    # greatest() and least() pass over what is NULL
    return f"CASE WHEN {value} IS NOT NULL THEN CAST(round({bounded} * {GRAIN}) AS HUGEINT) END"


def _taken(column: Column, j: int) -> str:
    """The SQL that makes one code of a person's rows, e their codes and v their millionths."""
    other = column.other_code or 0
    known = f"(CASE WHEN e{j} >= {column.size} THEN {other} ELSE e{j} END)"
    if column.take == "first":
        return f"min({{'place': place, 'code': {known}}}).code"
    if column.take == "last":  # of rows at one place the lowest level
        return f"255 - max({{'place': place, 'code': 255 - {known}::INT}}).code"
    if column.take == "any":
        if not column.has_gap_level:
            return f"max({known})"
        return f"coalesce(max({known}) FILTER ({known} <> {other}), {other})"
    if column.take == "most":
        often = [f"count(*) FILTER ({known} = {i})" for i in range(column.size)]
        return f"list_position([{', '.join(often)}], greatest({', '.join(often)})) - 1"
    amount = f"sum(v{j})" if column.take == "sum" else f"count(*) * {GRAIN}"
    above = " + ".join(f"({amount} >= {round(p * GRAIN)})::INT" for p in column.points())
    if column.take == "sum" and column.other == LEVEL:
        return f"CASE WHEN count(v{j}) = 0 THEN {other} ELSE {above} END"
    return above


# Numbers as they are --------------------------------------------------------------------------


def read_numbers(source: Any) -> tuple[np.ndarray, list[str], str]:
    """A table's numbers (n, d) in the order of its rows, NaN where none is; names; a label."""
    with opened(source) as table:
        table.con.execute("SET preserve_insertion_order = true")
        names = [name for name in table.names if name.strip()]
        listed = ", ".join(f"{Cell.of(table, n).number} AS v{k}" for k, n in enumerate(names))
        found = table.con.execute(f"SELECT {listed} FROM {table.sql}").fetchnumpy()
        columns = [np.ma.filled(found[f"v{k}"].astype(float), np.nan) for k in range(len(names))]
        return np.column_stack(columns), names, table.label
