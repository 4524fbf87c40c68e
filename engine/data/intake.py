"""The one way in for a table: a schema becomes one SQL projection, and DuckDB runs it.

A CSV or Parquet file or a folder of either, an Arrow file, a frame, a sheet of a workbook, a query
on a database file: each is a relation whose columns are called c0, c1, … What a cell means is a
function of that cell and of the schema, one SQL expression a column:

1. blanks around it mean nothing;
2. the exact text of a level; else
3. a level that is the same number (1, 1.0, True and "true" alike); else
4. a level that is the same word in another case, where one level alone fits; else
5. of a numeric column a number between two cut points, or the label of such an interval; else
6. it matches no level and counts as the column's ``other``. How many such cells there are is told
   to the table's owner, apart from the result (:class:`Unforeseen`).

Rows are counted, never held: the result is the distinct rows of codes and how often each occurs. A
file that is not well-formed in its dialect is refused with the line's number and without a cell.
DuckDB spills nothing to a disk, and none of its messages, which quote cells, gets out.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import os
import re
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.data.column import ADDED, LEVEL, MOST_COLUMNS, PLAIN, Column, Dialect, Person, repeated
from engine.data.spreadsheets import safe, unsafe
from engine.errors import DataError, InputError, did_you_mean, show, writable

Source = str | os.PathLike[str] | bytes | IO[str] | IO[bytes]

# Cells that stand for none, in any case; a level of the same text is that level all the same.
GAPS = ("", "?", "na", "n/a", "nan", "null", "<na>", "nat", "#n/a")
ASKED = 0.05  # of a column's cells: more that count as an answer are a question
MEMORY = "60%"  # of the machine's, which DuckDB may hold
GRAIN = 1_000_000  # sums are of whole millionths: exact, whatever the order of a person's rows
_BLANKS = "".join(map(chr, (*range(9, 14), *range(28, 33), 0x85, 0xA0, *range(0x2000, 0x200B))))
BLANKS = f"{_BLANKS}\u2028\u2029\u202f\u205f\u3000\ufeff"
DELIMITERS = (",", ";", "\t", "|")
_TEXTS, _PARQUET = (".csv", ".tsv", ".txt", ".gz"), (".parquet", ".pq")
_BOOKS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
_NUMBERS = re.compile(r"(U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|DOUBLE)$")
_HEADER = 1 << 20  # bytes in which the header's line ends
_CHUNK = 1 << 20


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
        hint = did_you_mean(name, [n for n in self.names if n])
        raise DataError(f"{self.label} has no column {show(name)}, which the schema names.{hint}")

    def rows(self, select: str) -> Any:
        """What a SELECT gives; its FROM is this table."""
        return self.con.execute(f"SELECT {select} FROM {self.sql}").fetchall()


@dataclass(frozen=True)
class Unforeseen:
    """Cells of one column that match no level: exact facts of private rows, for their owner alone.

    ``cells`` of ``of`` cells; ``looks`` like some of them; ``to`` is the level they count as.
    ``empty`` cells are apart from others, and ``foreseen`` where that level is there for them.
    """

    column: str
    cells: int
    of: int
    looks: tuple[str, ...] = field(repr=False)
    to: str
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
        to = f" and count as {self.to!r}" if self.to else ""
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
    """The table as something that DuckDB reads; whatever it finds wrong is said in our words.

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
        try:
            place, there = (str(path), True) if kind == "duckdb" else (":memory:", False)
            con = stack.enter_context(duckdb.connect(place, there))
            _settle(con)
            levels: dict[str, list[str]] = {}
            names: list[str] = []
            if kind == "frame":
                sql, levels = _frame(con, source)
            elif kind == "text":
                sql, names = _text(stack, path, dialect, label)
            elif kind == "excel":
                sql = _stored(con, _sheet(path, sheet, label), label, least)
            elif kind == "sqlite":
                sql = _stored(con, _sqlite(path, query), label)
            elif kind == "duckdb":
                sql = _query(con, path, query)
            else:
                sql = _columnar(con, path, kind, label)
            described = con.execute(f"DESCRIBE SELECT * FROM {sql}").fetchall()
            if kind != "text":
                names = [str(row[0]) for row in described]
                sql = f"{sql} t({', '.join(f'c{k}' for k in range(len(names)))})"
            check_names(names, label)
            yield Relation(con, sql, names, [str(r[1]) for r in described], label, dialect, levels)
        except duckdb.OutOfMemoryException:
            raise DataError(
                f"{label} needs more memory than there is; give fewer columns."
            ) from None
        except duckdb.Error as error:
            raise _refusal(str(error), label, kind, query) from None


def _found(stack: ExitStack, source: Any) -> tuple[str, str, Any]:
    """What a table is called, what kind it is, and the path of its file or folder, or its bytes."""
    if hasattr(source, "__arrow_c_stream__"):
        return "data", "frame", None
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        return path.name, _kind_of(path), path
    raw, label = read_bytes(source)
    kind = _kind(raw[:16], Path(label).suffix or _BOOKS[0])
    if kind == "text":
        return label, kind, raw
    file, place = _memory(stack)
    file.write(raw)
    file.flush()
    return label, kind, Path(place)


def _settle(con: Any) -> None:
    """As many threads as cores, a bounded memory, no disk, and no look at Python's variables."""
    cores = getattr(os, "sched_getaffinity", lambda _: range(os.cpu_count() or 1))(0)
    [[threads]] = con.execute("SELECT current_setting('threads')").fetchall()
    con.execute(f"SET threads = {min(int(threads), len(cores))}")
    con.execute(f"SET memory_limit = '{MEMORY}'")
    con.execute("SET temp_directory = ''")
    con.execute("SET python_enable_replacements = false")
    con.execute("SET preserve_insertion_order = false")
    con.execute("SET TimeZone = 'UTC'")


_WRONG = {
    "Expected Number of Columns": "has another number of cells than the header has names",
    "unterminated quote": "has a quotation mark that is not closed, or text after one",
    "Invalid unicode": "is not text in the encoding stated (utf-8, utf-16 or latin-1)",
    "Maximum line size": "is longer than 2 MB",
}


def _refusal(said: str, label: str, kind: str, query: str | None) -> DataError:
    """What to say in the place of a message of DuckDB's, which may quote a cell."""
    at = re.match(r"Invalid Input Error: CSV Error on Line: (\d+)", said)
    if kind in ("text", "csv") and at is not None:
        why = next((words for mark, words in _WRONG.items() if mark in said), "cannot be read")
        return DataError(f"Line {int(at[1]):,} of {label} {why}; correct it.")
    if query is not None:
        return DataError(f"{label} does not answer the query; check its SQL.")
    what = {"text": "delimited text", "csv": "delimited text", "frame": "a table"}.get(kind, kind)
    return DataError(f"{label} cannot be read as {what}; check the file.")


def check_names(names: Sequence[str], label: str) -> None:
    """Refuse a table whose columns cannot be told apart; DataError."""
    named = [name for name in names if name.strip()]
    if len(named) < 2:
        raise DataError(f"{label} has fewer than two columns with a name; give two.")
    if len(set(named)) < len(named):
        twice = show(repeated(named))
        raise DataError(f"Two columns of {label} are called {twice}; rename or delete one.")
    if len(named) > MOST_COLUMNS:
        raise DataError(f"{label} has {len(named):,} columns; keep at most {MOST_COLUMNS:,}.")


def _kind_of(path: Path) -> str:
    """What a file is by its first bytes, a folder by what it holds; DataError for neither."""
    try:
        if path.is_dir():
            held = {p.suffix.lower() for p in path.rglob("*")}
            return "parquet" if held & {*_PARQUET} or not held & {*_TEXTS} else "text"
        with path.open("rb") as file:
            return _kind(file.read(16), path.suffix)
    except FileNotFoundError:
        raise DataError(f"There is no file {show(str(path))}; check its path.") from None
    except (OSError, ValueError):
        raise DataError(f"{show(str(path))} cannot be read as a file; check it.") from None


def _kind(start: bytes, suffix: str) -> str:
    if start.startswith(b"PAR1"):
        return "parquet"
    if start.startswith(b"SQLite format 3\0"):
        return "sqlite"
    if start[8:12] == b"DUCK":
        return "duckdb"
    if start.startswith((b"ARROW1", b"\xff\xff\xff\xff")):
        return "arrow"
    zipped = start.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0"))
    return "excel" if zipped and suffix.lower() in _BOOKS else "text"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _place(path: Path) -> str:
    """A path as DuckDB takes it, without what a glob would read into its name."""
    return _quoted(re.sub(r"([*?[])", r"[\1]", str(path)))


def _columnar(con: Any, path: Path, kind: str, label: str) -> str:
    """A Parquet file, a folder of them, or an Arrow file."""
    if kind == "arrow":
        import pyarrow as pa

        try:
            with pa.memory_map(str(path)) as file:
                magic = file.read(6) == b"ARROW1"
                file.seek(0)
                opening = pa.ipc.open_file if magic else pa.ipc.open_stream
                con.register("source", opening(file).read_all())
        except (pa.ArrowException, OSError):
            raise DataError(f"{label} cannot be read as arrow; check the file.") from None
        return "source"
    files = [path]
    if path.is_dir():
        files = sorted(p for p in path.rglob("*") if p.suffix.lower() in _PARQUET)
    if not files:
        raise DataError(f"The folder {show(label)} holds no CSV and no Parquet files.")
    return f"read_parquet([{', '.join(map(_place, files))}])"


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


# Types of pandas whose cells are texts of their own: Arrow would find one type for all of them,
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


class Head(NamedTuple):
    """A text's header: its names, the delimiter, records down to the header's, the line's end."""

    names: tuple[str, ...]
    delimiter: str
    skip: int
    end: bytes


def _text(stack: ExitStack, source: Any, dialect: Dialect, label: str) -> tuple[str, list[str]]:
    """Delimited text, or a folder of it, as a relation of text columns; and their names."""
    files = [source]
    if isinstance(source, Path) and source.is_dir():
        files = sorted(p for p in source.rglob("*") if p.suffix.lower() in _TEXTS)
    places = []
    heads = set()
    for content in files:
        place, gz = _staged(stack, content, dialect.encoding, label)
        head = _head(place, gz, dialect, label)
        _check_line_ends(place, gz, head.end, label)
        heads.add((head.names, head.delimiter, head.skip, gz))
        places.append(_place(Path(place)))
    if len(heads) > 1:
        raise DataError(f"The files of {label} do not have the same header; make them alike.")
    [(names, delimiter, skip, gz)] = heads
    columns = ", ".join(f"'c{k}': 'VARCHAR'" for k in range(len(names)))
    sql = (
        f"read_csv([{', '.join(places)}], auto_detect=false, header=false, skip={skip}, "
        f"delim={_quoted(delimiter)}, quote='\"', escape='\"', columns={{{columns}}}, "
        f"compression='{'gzip' if gz else 'none'}', strict_mode=true, null_padding=false)"
    )
    return sql, list(names)


def read_bytes(source: Any, most: int = 1 << 40) -> tuple[bytes, str]:
    """What a short file, bytes or an open file hold, and what they are called; DataError."""
    if isinstance(source, Named):
        return source
    if isinstance(source, bytes | bytearray):
        return bytes(source), "data"
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        _kind_of(path)  # says what is wrong with it
        with path.open("rb") as file:
            raw: Any = file.read(most + 1)
        label = path.name
    elif hasattr(source, "read"):
        name, raw = getattr(source, "name", None), source.read()
        label = Path(name).name if isinstance(name, str) and name else "data"
    else:
        called = "nothing" if source is None else f"of the type {type(source).__name__}"
        raise InputError(
            "The data are a frame (pandas, Polars, Arrow), an array, bytes, an open file or the "
            f"path of a file, not {called}."
        )
    if len(raw) > most:
        raise DataError(f"{label} is larger than {most // 1_000_000} MB.")
    return raw.encode("utf-8", "replace") if isinstance(raw, str) else raw, label


def _staged(stack: ExitStack, content: Path | bytes, encoding: str, label: str) -> tuple[str, bool]:
    """The place of text in UTF-8, and whether it is packed; in memory where it is no such file."""
    file: IO[bytes] = content.open("rb") if isinstance(content, Path) else io.BytesIO(content)
    with file:
        gz = file.read(2) == b"\x1f\x8b"
        file.seek(0)
        plain: Any = gzip.GzipFile(fileobj=file) if gz else file
        start = _peek(plain, 2)
        if start in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
            encoding = "utf-16"  # no UTF-8 text begins so
        if encoding == "utf-8" and isinstance(content, Path):
            return str(content), gz
        target, place = _memory(stack)
        file.seek(0)
        if encoding == "utf-8":
            target.write(file.read())
            target.flush()
            return place, gz
        plain = gzip.GzipFile(fileobj=file) if gz else file
        try:
            for chunk in codecs.iterdecode(iter(lambda: plain.read(_CHUNK), b""), encoding):
                target.write(chunk.encode())
        except (UnicodeError, OSError, EOFError):
            raise DataError(f"{label} is not {encoding} text; say its encoding.") from None
        target.flush()
        return place, False


def _peek(file: Any, size: int) -> bytes:
    try:
        return bytes(file.read(size))
    except (OSError, EOFError):
        return b""


def _memory(stack: ExitStack) -> tuple[IO[bytes], str]:
    """A file in memory (or a private one that is deleted), and its path."""
    if hasattr(os, "memfd_create"):
        file: IO[bytes] = stack.enter_context(os.fdopen(os.memfd_create("table"), "wb"))
        return file, f"/proc/self/fd/{file.fileno()}"
    from tempfile import NamedTemporaryFile

    kept = stack.enter_context(NamedTemporaryFile())  # noqa: SIM115
    return kept, kept.name


def _open(place: str, gz: bool) -> IO[bytes]:
    return gzip.open(place) if gz else Path(place).open("rb")  # type: ignore[return-value]


def _head(place: str, gz: bool, dialect: Dialect, label: str) -> Head:
    """The header: below blank lines, comments and a line ``sep=;`` above it; no record is read."""
    try:
        with _open(place, gz) as file:
            raw = file.read(_HEADER)
    except (OSError, EOFError):
        raise DataError(f"{label} cannot be unpacked; check the file.") from None
    text = raw.decode("utf-8-sig", "surrogateescape")  # no more than the header's is looked at
    lines = io.StringIO(text, newline="").readlines()
    delimiter, skip = dialect.delimiter, 0
    for line in lines:
        bare = line.strip()
        said = line.lstrip().rstrip("\r\n")
        if said.lower().startswith("sep=") and said[4:] in DELIMITERS:
            delimiter = said[4:]
        elif bare and not bare.startswith("#"):
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
    end = re.search(r"(\r\n|\r|\n)?$", last)
    return Head(names, delimiter, skip + 1, end[0].encode() if end else b"")


def _check_line_ends(place: str, gz: bool, end: bytes, label: str) -> None:
    """Refuse a carriage return that ends no line: readers do not agree on what it means."""
    line, half = 1, b""
    with _open(place, gz) as file:
        while chunk := half + file.read(_CHUNK):
            half = b""
            if b"\r" in chunk and end != b"\r":
                if chunk.endswith(b"\r") and (more := file.read(1)):
                    chunk += more
                if end != b"\r\n" or chunk.count(b"\r") != chunk.count(b"\r\n"):
                    stray = re.search(rb"\r" if end != b"\r\n" else rb"\r(?!\n)", chunk)
                    at = line + chunk[: stray.start() if stray else 0].count(b"\n")
                    raise _stray(at, label)
            elif b"\n" in chunk and end == b"\r":
                raise _stray(line + chunk[: chunk.index(b"\n")].count(b"\r"), label)
            line += chunk.count(end[-1:] or b"\n")


def _stray(line: int, label: str) -> DataError:
    return DataError(
        f"Line {line:,} of {label} has a carriage return or line feed that ends no line as the "
        "header's does; save the file with one kind of line end."
    )


# Workbooks and databases ----------------------------------------------------------------------


def _stored(con: Any, rows: Iterator[Sequence[Any]], label: str, least: int | None = None) -> str:
    """Rows of cells, the first of them names, as a table of text in DuckDB's memory."""
    import pyarrow as pa

    names = [_cell(cell) or "" for cell in next(rows, ())]
    fields = pa.schema([(name, pa.string()) for name in names])
    quoted = ", ".join(f"c{k} VARCHAR" for k in range(len(names)))
    if not names:
        raise DataError(f"{label} is empty there; name another sheet or table.")
    con.execute(f"CREATE TABLE cells ({quoted})")
    count = 0
    while batch := list(islice(rows, 1 << 14)):
        count += len(batch)
        cells = [pa.array(map(_cell, column), pa.string()) for column in zip(*batch, strict=True)]
        con.register("part", pa.table(cells, schema=fields))
        con.execute("INSERT INTO cells SELECT * FROM part")
        con.unregister("part")
    blank = ", ".join(["NULL"] * len(names))
    con.execute(f"INSERT INTO cells SELECT {blank} FROM range({max(0, (least or 0) - count)})")
    listed = ", ".join(
        f'c{k} AS "{name.replace(chr(34), chr(34) * 2)}"' for k, name in enumerate(names)
    )
    check_names(names, label)
    return f"(SELECT {listed} FROM cells)"


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
        with path.open("rb") as file:
            book = CalamineWorkbook.from_filelike(file)
        names = book.sheet_names
        chosen = names[0] if sheet is None else sheet
        rows = book.get_sheet_by_name(chosen).to_python() if chosen in names else None
    except BaseException as error:  # the reader panics on some files, which is no Exception
        if isinstance(error, KeyboardInterrupt | MemoryError):
            raise
        raise DataError(f"{label} cannot be read as a workbook; save it as CSV.") from None
    if rows is None:
        listed = ", ".join(names[:5])
        raise InputError(f"{label} has no sheet {show(str(sheet))}; it has {listed}.")
    held = (k for k, row in enumerate(rows) if any(cell != "" for cell in row))
    return iter(rows[next(held, len(rows)) :])


# What a statement that only reads may do.
_READING = (
    *(sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ),
    *(sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE),
)


def _sqlite(path: Path, query: str | None) -> Iterator[Sequence[Any]]:
    """What a query on a SQLite file gives, its names first; it is opened for reading alone."""
    # A log beside the file may hold rows; without one the file is not even locked.
    log = path.with_name(f"{path.name}-wal")
    still = "" if log.exists() and log.stat().st_size else "&immutable=1"
    place = f"{path.resolve().as_uri()}?mode=ro{still}"
    try:
        with closing(sqlite3.connect(place, uri=True)) as connection:
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
        listed = "SELECT table_name FROM information_schema.tables"
        return f"({_whole(path, [name for (name,) in con.execute(listed).fetchall()])})"
    kinds = [one.type for one in con.extract_statements(query)]
    if kinds != [duckdb.StatementType.SELECT]:
        raise InputError("The query gives no table; write a SELECT.")
    return f"({query.strip().rstrip(';')})"


def _whole(path: Path, tables: list[str]) -> str:
    if len(tables) != 1:
        listed = ", ".join(tables[:5]) or "none"
        raise InputError(f"Say what to read of {path.name} (query); its tables are {listed}.")
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
        grouped = rf"[+-]?\d{{1,3}}({cut}\d{{3}})+({point}\d*)?"
        bare = f"replace(replace({text}, {_quoted(dialect.thousands)}, ''), '{decimal}', '.')"
        plain = (
            f"CASE WHEN regexp_full_match({text}, {_quoted(grouped)}) THEN {bare} ELSE {plain} END"
        )
    return (
        f"(CASE lower({text}) WHEN 'true' THEN 1.0 WHEN 'false' THEN 0.0 "
        f"ELSE try_cast({plain} AS DOUBLE) END)"
    )


@dataclass(frozen=True)
class Cell:
    """One column's cells in SQL: as they are stored, as text, and as numbers."""

    stored: str
    text: str
    number: str
    quick: str | None  # a cheap number that is right where it is finite; else there is none

    @classmethod
    def of(cls, table: Relation, name: str, part: str | None = None) -> Cell:
        """Of a table's column; ``part`` of its dates in their place where it is named."""
        at, dialect = table.at(name), table.dialect
        kind = table.types[at]
        text = f"c{at}" if kind == "VARCHAR" else f"CAST(c{at} AS VARCHAR)"
        if part is not None:
            text = f"coalesce(CAST({part}(try_cast({text} AS TIMESTAMP)) AS VARCHAR), {text})"
        quick = None
        if part is None and _NUMBERS.match(kind):
            quick = f"CAST(c{at} AS DOUBLE)"
        elif dialect.decimal == "." and part is None:
            quick = f"try_cast({text} AS DOUBLE)"
        return cls(text, trimmed(text), number(text, dialect), quick)


def code(table: Relation, column: Column, cell: Cell, times: int = 1) -> str:
    """The SQL of a cell's code, ``times`` as large; K where it matches no level, K + 1 where empty.

    The exact text, or the cheap number, is looked at first: what follows is for the other cells.
    """
    size = column.size
    then = "THEN {}::UBIGINT".format
    gap = f"WHEN coalesce({cell.text}, '') = '' OR lower({cell.text}) IN ({_list(GAPS)}) "
    rest = f"{gap}{then((size + 1) * times)} ELSE {size * times}::UBIGINT END)"
    if column.type == "numeric":
        points = column.points()

        def arms(value: str) -> str:
            below = [
                f"WHEN {value} < {p!r}::DOUBLE {then(i * times)}" for i, p in enumerate(points)
            ]
            return f"(CASE {' '.join(below)} ELSE {len(points) * times}::UBIGINT END)"

        labels = [
            f"WHEN {cell.text} = {_quoted(w)} {then(i * times)}"
            for i, w in enumerate(column.labels)
        ]
        slow = (
            f"(CASE WHEN isfinite({cell.number}) THEN {arms(cell.number)} {' '.join(labels)} {rest}"
        )
        if cell.quick is None:
            return slow
        return f"(CASE WHEN isfinite({cell.quick}) THEN {arms(cell.quick)} ELSE {slow} END)"
    exact = {safe(word): i for i, word in enumerate(column.levels)}
    exact |= {word: i for i, word in enumerate(column.levels)}
    same, alike = _keys(table, column.levels)
    stored = [f"WHEN {cell.stored} = {_quoted(w)} {then(i * times)}" for w, i in exact.items()]
    slow_arms = [
        *(f"WHEN {cell.text} = {_quoted(w.strip())} {then(i * times)}" for w, i in exact.items()),
        *(f"WHEN {cell.number} = {v!r}::DOUBLE {then(i * times)}" for v, i in same.items()),
        *(f"WHEN lower({cell.text}) = {_quoted(w)} {then(i * times)}" for w, i in alike.items()),
    ]
    return f"(CASE {' '.join(stored)} ELSE (CASE {' '.join(slow_arms)} {rest} END)"


def _keys(table: Relation, levels: Sequence[str]) -> tuple[dict[float, int], dict[str, int]]:
    """Levels by their number, and by their lower case where that is one level's alone."""
    listed = ", ".join(f"({_quoted(word)})" for word in levels)
    asked = (
        f"SELECT {number('w', table.dialect)}, lower({trimmed('w')}) FROM (VALUES {listed}) AS t(w)"
    )
    found = table.con.execute(asked).fetchall()
    numbers: dict[float, int] = {}
    words = [word for _, word in found]
    for i, (value, _) in enumerate(found):
        if value is not None and np.isfinite(value):
            numbers.setdefault(value, i)
    return numbers, {w: i for i, w in enumerate(words) if w and words.count(w) == 1}


def _list(words: Iterable[str]) -> str:
    return ", ".join(map(_quoted, words))


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


def aggregate(
    codes: NDArray[np.unsignedinteger],
    weights: NDArray[np.int64],
    cardinalities: Sequence[int],
) -> tuple[NDArray[np.unsignedinteger], NDArray[np.int64]]:
    """Weighted rows, equal ones added up, in ascending order: the same whatever order they had."""
    keys = mixed_radix_keys(codes, cardinalities)
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    total = np.zeros(len(first), np.int64)
    np.add.at(total, inverse, weights)
    return codes[first], total


# The projection -------------------------------------------------------------------------------

Folded = tuple[np.ndarray, np.ndarray]


def project(
    table: Relation, columns: Sequence[Column], person: Person | None = None
) -> tuple[Folded, tuple[Unforeseen, ...]]:
    """The table's distinct rows of codes (k, d) with their counts (k,), and what matched no level.

    With a ``person`` a row is a person's. Who reads refuses what matched no level of a column that
    states no ``other``.
    """
    cells = [
        None if column.take == "count" else Cell.of(table, column.name, column.part)
        for column in columns
    ]
    if person is not None:
        return _persons(table, columns, person, cells)
    sizes = [column.size + 2 for column in columns]
    groups = _groups(sizes)
    keys = []
    for group in groups:
        parts, times = [], 1
        for j in reversed(group):
            cell = cells[j]
            assert cell is not None
            parts.append(code(table, columns[j], cell, times))
            times *= sizes[j]
        keys.append(" + ".join(parts))
    found = _counted(table.con, keys, table.sql)
    codes = _decoded(found, groups, sizes)
    weights = found["n"].astype(np.int64)
    counts = [
        tuple(int(weights[codes[:, j] == s - 2 + e].sum()) for e in (0, 1))
        for j, s in enumerate(sizes)
    ]
    if not any(map(any, counts)):
        return (codes, weights), ()
    unforeseen = _unforeseen(table, columns, cells, counts)
    for j, column in enumerate(columns):
        codes[codes[:, j] >= column.size, j] = column.other_code or 0
    return aggregate(codes, weights, [column.size for column in columns]), unforeseen


def _groups(sizes: Sequence[int]) -> list[list[int]]:
    """Columns in runs whose codes together fit into one whole number."""
    groups: list[list[int]] = [[]]
    room = 1
    for j, size in enumerate(sizes):
        if room * size >= 1 << 62:
            groups.append([])
            room = 1
        groups[-1].append(j)
        room *= size
    return groups


def _counted(con: Any, keys: Sequence[str], source: str) -> Any:
    """The distinct keys k0, k1, … of a source in ascending order, and how often each occurs (n)."""
    named = ", ".join(f"{key} AS k{i}" for i, key in enumerate(keys))
    asked = f"SELECT {named}, count(*) AS n FROM {source} GROUP BY ALL"
    found = con.execute(asked).fetchnumpy()
    order = np.lexsort([found[f"k{i}"] for i in reversed(range(len(keys)))])
    return {name: array[order] for name, array in found.items()}


def _decoded(found: Any, groups: Sequence[Sequence[int]], sizes: Sequence[int]) -> np.ndarray:
    """(k, d) codes of keys, the last column of a group counting fastest."""
    codes = np.empty((len(found["n"]), len(sizes)), np.uint8, order="F")
    for i, group in enumerate(groups):
        left = np.asarray(found[f"k{i}"], np.uint64)
        for j in reversed(group):
            left, digit = np.divmod(left, np.uint64(sizes[j]))
            codes[:, j] = digit
    return codes


_SHOWN = 5  # of a column's cells that match no level


def _unforeseen(
    table: Relation,
    columns: Sequence[Column],
    cells: Sequence[Cell | None],
    counts: Sequence[tuple[int, ...]],
) -> tuple[Unforeseen, ...]:
    """What matched no level: a line a column, and one for its empty cells."""
    found = []
    if not any(map(any, counts)):
        return ()
    [[total]] = table.rows("count(*)")
    for column, cell, (strange, empty) in zip(columns, cells, counts, strict=True):
        assert cell is not None or not strange + empty
        other = column.other_code
        to = "" if other is None else column.labels[other]
        if strange and cell is not None:
            is_one = f"{code(table, column, cell)} = {column.size}"
            if column.take in ADDED:
                is_one = f"NOT coalesce(isfinite({cell.number}), false)"
            words = table.con.execute(
                f"SELECT left({cell.text}, 40), count(*) AS n FROM {table.sql} WHERE {is_one} "
                f"GROUP BY ALL ORDER BY n DESC, 1 LIMIT {_SHOWN}"
            ).fetchall()
            looks = tuple(word for word, _ in words)
            found.append(Unforeseen(column.name, strange, total, looks, to, empty=False))
        if empty:
            own = column.has_gap_level
            found.append(Unforeseen(column.name, empty, total, (), to, empty=True, foreseen=own))
    return tuple(found)


# One row a person -----------------------------------------------------------------------------


def _persons(
    table: Relation, columns: Sequence[Column], person: Person, cells: Sequence[Cell | None]
) -> tuple[Folded, tuple[Unforeseen, ...]]:
    """One row a person: a function of that person's rows alone, whatever their order.

    A tie in the order counts as its lowest level, as does one between the most frequent. A row
    without an id belongs to nobody, and is told with what matched no level.
    """
    whose = Cell.of(table, person.id)
    small = f"isfinite({whose.number}) AND abs({whose.number}) < 9007199254740992"
    gap = f"coalesce({whose.text}, '') = '' OR lower({whose.text}) IN ({_list(GAPS)})"
    named = f"CASE WHEN {small} THEN CAST({whose.number} AS VARCHAR) ELSE {whose.text} END"
    inner = [f"CASE WHEN {gap} THEN NULL ELSE {named} END AS person", _order(table, person)]
    told = ["count(*) FILTER (person IS NULL)"]
    outer = []
    for j, (column, cell) in enumerate(zip(columns, cells, strict=True)):
        if cell is not None:
            inner.append(f"{code(table, column, cell)} AS e{j}")
            told += [f"count(*) FILTER (e{j} = {column.size + empty})" for empty in (0, 1)]
        if column.take == "sum" and cell is not None:
            inner.append(f"{_grains(cell, column)} AS v{j}")
        outer.append(f"{_taken(column, j)} AS a{j}")
    visits = f"(SELECT {', '.join(inner)} FROM {table.sql})"
    [[nobody, *flat]] = table.con.execute(f"SELECT {', '.join(told)} FROM {visits}").fetchall()
    pairs = iter(zip(flat[::2], flat[1::2], strict=True))
    counts = [(0, 0) if cell is None else next(pairs) for cell in cells]
    unforeseen = _unforeseen(table, columns, cells, counts)
    if nobody:
        [[total]] = table.rows("count(*)")
        unforeseen += (Unforeseen(person.id, nobody, total, (), "nobody: left out", empty=True),)
    sizes = [column.size for column in columns]
    groups = _groups(sizes)
    keys = []
    for group in groups:
        times = np.cumprod([1, *(sizes[j] for j in reversed(group))])[:-1][::-1]
        keys.append(" + ".join(f"a{j}::UBIGINT * {t}" for j, t in zip(group, times, strict=True)))
    one = f"(SELECT {', '.join(outer)} FROM {visits} WHERE person IS NOT NULL GROUP BY person)"
    found = _counted(table.con, keys, one)
    codes = _decoded(found, groups, sizes)
    return aggregate(codes, found["n"].astype(np.int64), sizes), unforeseen


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
    steps = [f"({amount} >= {round(point * GRAIN)})::INT" for point in column.points()]
    above = " + ".join(steps)
    if column.take == "sum" and column.other == LEVEL:
        return f"CASE WHEN count(v{j}) = 0 THEN {other} ELSE {above} END"
    return above


# Numbers as they are --------------------------------------------------------------------------


def read_numbers(source: Any) -> tuple[np.ndarray, list[str], str]:
    """A table's numbers (n, d) in the order of its rows, NaN where none is; names; a label."""
    with opened(source) as table:
        table.con.execute("SET preserve_insertion_order = true")
        used = [(k, name) for k, name in enumerate(table.names) if name.strip()]
        cells = [Cell.of(table, name) for _, name in used]
        listed = ", ".join(f"{cell.number} AS v{k}" for k, cell in enumerate(cells))
        found = table.con.execute(f"SELECT {listed} FROM {table.sql}").fetchnumpy()
        columns = [np.ma.filled(found[f"v{k}"].astype(float), np.nan) for k in range(len(cells))]
        return np.column_stack(columns), [name for _, name in used], table.label
