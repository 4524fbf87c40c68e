"""Sources of a table, as relations that DuckDB reads.

A CSV, Parquet or Arrow file, a folder of CSV or Parquet, a frame, a workbook's first sheet and a
query on a database file all become relations with columns called c0, c1, … DuckDB has a memory
limit and writes nothing to disk. Its messages are not shown, because they quote cells. A file that
is not well-formed in its dialect is refused with the line number and without a cell.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import os
import re
import sqlite3
import threading
import zipfile
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial, reduce
from itertools import chain, dropwhile, islice
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO, Any, NamedTuple

import numpy as np

from engine.data.column import DELIMITERS, MOST_COLUMNS, PLAIN, Dialect, repeated
from engine.data.spreadsheets import unsafe
from engine.errors import DataError, InputError, did_you_mean, show
from engine.monitor import QUIET, Cancelled, Monitor
from engine.percent import count

Source = str | os.PathLike[str] | bytes | IO[str] | IO[bytes]
Word = Callable[[Any], str | None]

_ENDINGS = {"parquet": (".parquet", ".pq"), "text": (".csv", ".tsv", ".txt", ".gz")}
BOOKS = (".xlsx", ".xlsm", ".xls", "")
_MARKS = {b"PAR1": "parquet", b"SQLite format 3\0": "sqlite", b"ARROW1": "arrow"}
# Byte order marks, which override the schema.
_ORDERS = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
_CHUNK = 1 << 20  # bytes read at a time; the header line ends in the first chunk
_LONGEST = 2 * _CHUNK  # bytes per line
LOOK = 0.2  # seconds between two progress checks of a query
# limits for a workbook: bytes, and cells in its area
_MOST_UNPACKED, _MOST_CELLS = 1 << 30, 20_000_000
_BLANKS = "".join(map(chr, (*range(9, 14), *range(28, 33), 0x85, 0xA0, *range(0x2000, 0x200B))))
BLANKS = f"{_BLANKS}\u2028\u2029\u202f\u205f\u3000\ufeff"
# A memory limit, no disk, and no access to Python's variables.
_SETTINGS = """SET memory_limit = '60%'; SET temp_directory = ''; SET TimeZone = 'UTC';
SET python_enable_replacements = false;"""


class Relation(NamedTuple):
    """A table that DuckDB can read: the relation, its columns and its text format.

    ``places`` maps names, also those made safe for spreadsheets, to column numbers.
    """

    con: Any
    sql: str
    names: list[str]
    places: dict[str, int]
    types: list[str]
    label: str
    dialect: Dialect
    delimiter: str | None  # as detected, for text
    # by name, with True if they are ordered
    categories: Callable[[], dict[str, tuple[tuple[str, ...], bool]]]

    def at(self, name: str) -> int:
        """Return the position of a column in the schema; DataError if the table lacks it."""
        if name.strip() in self.places:
            return self.places[name.strip()]
        hint = did_you_mean(name, filter(None, self.names))
        raise DataError(
            f"{self.label} has no column {show(name)}, which the schema or the join names.{hint}"
        )

    def rows(self, select: str, rest: str = "") -> Any:
        """Return the rows of a SELECT from this table."""
        return self.con.execute(f"SELECT {select} FROM {self.sql} {rest}").fetchall()


@dataclass(frozen=True)
class Join:
    """Two tables as one: each row of ``table`` with the row of ``other`` that has the same key.

    ``keys`` are the names of the two columns to compare, as text without surrounding blanks. A row
    without a match has empty cells. The guarantee is for the rows of ``table``; ``other`` counts as
    public. Reading raises DataError if a key occurs twice in ``other``, because the join would then
    repeat rows.

    Examples:
        >>> from engine import Schema
        >>> flights = b"late,plane\\nyes,N1\\nno,N2\\nno,N1\\n"
        >>> planes = b"plane,seats\\nN1,50\\nN2,180\\n"
        >>> Schema.draft(Join(flights, planes, ("plane", "plane"))).names
        ('late', 'plane', 'seats')
    """

    table: Any
    other: Any
    keys: tuple[str, str]


@contextmanager
def opened(
    source: Any,
    dialect: Dialect = PLAIN,
    query: str | None = None,
    least: int | None = None,
    monitor: Monitor = QUIET,
) -> Iterator[Relation]:
    """Open a table as a relation of DuckDB; errors become DataError without DuckDB's text.

    ``least`` is the declared number of rows, or 0. It is needed because a workbook does not store
    blank rows at its end. Another thread reports a query's progress to the ``monitor``. Raises
    Cancelled if the monitor stops a query.
    """
    import duckdb  # imported here because it takes a tenth of a second

    if isinstance(source, Join):
        with opened(source.table, dialect, query, least, monitor) as one:
            with opened(source.other, replace(dialect, delimiter=None)) as other:
                both = _joined(one, other, source.keys)
            yield both
        return
    with ExitStack() as stack:
        label, kind = "data", "frame"
        if isinstance(source, np.ndarray):
            source = framed(source)
        elif hasattr(source, "collect"):  # a lazy frame of Polars
            source = source.collect()
        elif not hasattr(source, "__arrow_c_stream__"):
            label, source = located(stack, source)
            kind = _kind(source, Path(label).suffix)
        if query is not None and kind not in ("sqlite", "duckdb"):
            raise InputError("A query needs a SQLite or DuckDB file.")
        # the line break ends a last comment
        query = query and f"{query.strip().removesuffix(';')}\n"
        place = (str(source), True) if kind == "duckdb" else (":memory:", False)
        names, delimiter = None, None
        held: Any = None
        try:
            con = stack.enter_context(duckdb.connect(*place))
            con.execute(_SETTINGS)
            stack.enter_context(_watched(con, monitor, label))
            if kind == "text":
                sql, names, delimiter = _text(stack, source, label, dialect)
            elif kind == "parquet":
                sql, names = _parquet(con, source, label, dialect.decimal)
            elif kind == "duckdb":
                con.execute("SET enable_external_access = false")
                ask = "SELECT table_name FROM information_schema.tables WHERE table_type {} 'VIEW'"
                listed = [name for (name,) in con.execute(ask.format("<>")).fetchall()]
                views = [name for (name,) in con.execute(ask.format("=")).fetchall()]
                sql = f"({query or _whole(label, [*listed, *views])})"
                if query and least == 0:
                    _check_join(con, listed, query, label)
            else:
                held = _table(kind, source, label, query, least, partial(_word, dialect.decimal))
                sql, names = "held", held.column_names
            if names is None:
                names = [row[0] for row in con.execute(f"DESCRIBE FROM {sql}").fetchall()]
            names = [name.strip() for name in names]
            _check_names(names, label)
            if sql == "held":
                con.register(sql, held.rename_columns([f"c{k}" for k in range(len(names))]))
            sql = f"{sql} t({_columns(len(names))})"
            types = [row[1] for row in con.execute(f"DESCRIBE FROM {sql}").fetchall()]
            known = partial(_categories, source if kind in ("frame", "parquet") else held)
            yield Relation(con, sql, names, _named(names), types, label, dialect, delimiter, known)
        except duckdb.InterruptException:
            raise Cancelled from None
        except duckdb.OutOfMemoryException:
            raise DataError(f"{label} needs too much memory; give fewer columns.") from None
        except duckdb.Error as error:
            raise _refusal(str(error), label, kind) from None


@contextmanager
def _watched(con: Any, monitor: Monitor, label: str) -> Iterator[None]:
    """Report the progress of each query, and interrupt it if the work should stop."""
    if monitor.progress is None and monitor.stop is None:
        yield
        return
    over = threading.Event()
    con.execute("SET enable_progress_bar = true; SET enable_progress_bar_print = false")

    def watch() -> None:
        while not over.wait(LOOK):
            if monitor.stopped():
                con.interrupt()
            elif (percent := con.query_progress()) >= 0:
                monitor.tell(percent / 100, f"reading {label}: {percent:.0f} %")

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


_WRONG = {
    "Expected Number of Columns": "does not have as many cells as the header has names",
    "Maximum line size": "begins a record that is longer than 4 MB",
    "unterminated quote": "has a quotation mark that is not closed, or text after one",
    "Invalid unicode": "is not text in the declared encoding (utf-8, utf-16 or latin-1)",
}
_UNREAD = {
    "text": "cannot be read as delimited text; check the file",
    "excel": "cannot be read as a workbook; save it as CSV",
    "parquet": "cannot be read as parquet; check the file",
    "frame": "has a column of a type that is not read; make it text, numbers or dates",
    "sqlite": "does not answer the query; check its SQL",
    "duckdb": "does not answer the query; check its SQL",
}


def _refusal(said: str, label: str, kind: str) -> DataError:
    """Return the error that replaces a reader's message, because the message may quote a cell."""
    at = re.match(r"Invalid Input Error: CSV Error on Line: (\d+)", said)
    if kind == "text" and at is not None:
        why = next((words for mark, words in _WRONG.items() if mark in said), "cannot be read")
        return DataError(f"Line {int(at[1]):,} of {label} {why}; correct it.")
    return DataError(f"{label} {_UNREAD.get(kind, f'cannot be read as {kind}; check the file')}.")


def _categories(source: Any) -> dict[str, tuple[tuple[str, ...], bool]]:
    """Return the categories declared by a table's column types, and whether they are ordered."""
    import pyarrow as pa

    if type(source).__module__.partition(".")[0] == "pandas":
        kinds = ((str(name).strip(), kind) for name, kind in source.dtypes.items())
        return {
            name: (tuple(map(str, kind.categories)), bool(kind.ordered))
            for name, kind in kinds if hasattr(kind, "categories")
        }  # fmt: skip
    if isinstance(source, Path):
        from pyarrow.parquet import ParquetFile

        file = ParquetFile(_files(source, "parquet")[0])
        fields = [field for field in file.schema_arrow if pa.types.is_dictionary(field.type)]
        if not fields or not file.num_row_groups:
            return {}
        source = file.read_row_group(0, [field.name for field in fields])
    source = pa.table(source) if source is not None else pa.table({})
    return {
        field.name.strip(): (
            tuple(map(str, column.chunk(0).dictionary.to_pylist())),
            field.type.ordered,
        )
        for field, column in zip(source.schema, source.columns, strict=True)
        if pa.types.is_dictionary(field.type) and column.num_chunks
    }


def _named(names: Sequence[str]) -> dict[str, int]:
    return {call(name): k for call in (unsafe, str) for k, name in enumerate(names)}


def _joined(one: Relation, other: Relation, keys: tuple[str, str]) -> Relation:
    """Return two tables as one; if both have a name, the second gets the other's label."""
    at = [table.at(key) for table, key in zip((one, other), keys, strict=True)]
    key, its = (
        bare(written(f"c{k}", table.types[k], table.dialect.decimal))
        for table, k in zip((one, other), at, strict=True)
    )
    taken = [k for k, name in enumerate(other.names) if k != at[1] and name]
    cells = "".join(f", c{k} AS j{k}" for k in taken)
    asked = f"SELECT {its} AS key{cells} FROM {other.sql} WHERE {its} <> ''"
    one.con.register("other", other.con.sql(asked).to_arrow_table())
    if one.con.execute("SELECT count(*) > count(DISTINCT key) FROM other").fetchone()[0]:
        raise DataError(
            f"{show(keys[1])} has a key more than once in {other.label}, so the join would repeat "
            "rows. Keep one row for each key there."
        )
    stem = Path(other.label.removesuffix(".gz")).stem
    more = [other.names[k] for k in taken]
    names = [*one.names, *(f"{n} ({stem})" if n in one.names else n for n in more)]
    _check_names(names, one.label)
    joined = "".join(f", other.j{k}" for k in taken)
    sql = f"(SELECT t.*{joined} FROM {one.sql} LEFT JOIN other ON {key} = other.key)"
    sql = f"{sql} t({_columns(len(names))})"
    types = [row[1] for row in one.con.execute(f"DESCRIBE FROM {sql}").fetchall()]
    called, held = dict(zip(more, names[len(one.names) :], strict=True)), other.categories()
    its_own = {name: held[of] for of, name in called.items() if of in held}
    known = lambda: one.categories() | its_own  # noqa: E731
    return one._replace(sql=sql, names=names, places=_named(names), types=types, categories=known)


def _check_names(names: Sequence[str], label: str) -> None:
    """Refuse a table whose column names cannot be distinguished."""
    named = [name for name in names if name]
    if not 2 <= len(named) <= MOST_COLUMNS:
        found = count(len(named), "column")
        blanks = len(named) == 1 and len(named[0].split()) > 1
        raise DataError(
            f"{label} has {found} with a name in its first line; give 2 to {MOST_COLUMNS:,}"
            f"{', separated by commas instead of blanks' if blanks else ''}."
        )
    if len(set(named)) < len(named):
        twice = show(repeated(named))
        raise DataError(f"Two columns of {label} are called {twice}; rename or delete one.")


def located(stack: ExitStack, source: Any) -> tuple[str, Path]:
    """Return the name and path of a file, bytes or an open file (in memory for the last two)."""
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
    path = _memory(stack, [raw])
    return Path(name).name if isinstance(name, str) and name else "data", path


def _memory(stack: ExitStack, chunks: Iterable[bytes | bytearray]) -> Path:
    """Return the path of a file with these bytes, in memory or temporary and private."""
    if hasattr(os, "memfd_create"):
        file: Any = stack.enter_context(os.fdopen(os.memfd_create("table"), "wb"))
        path = Path(f"/proc/self/fd/{file.fileno()}")
    else:
        file = stack.enter_context(NamedTemporaryFile())  # noqa: SIM115
        path = Path(file.name)
    file.writelines(chunks)
    file.flush()
    return path


def _kind(path: Path, suffix: str) -> str:
    """Return a file's kind by its first bytes, a folder's by its files; DataError for neither."""
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
    if start.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0")) and suffix.lower() in BOOKS:
        return "excel"
    return next((kind for mark, kind in _MARKS.items() if start.startswith(mark)), "text")


def _files(path: Path, kind: str) -> list[Path]:
    """Return the file, or the files of a folder."""
    if not path.is_dir():
        return [path]
    return sorted(p for p in path.rglob("*") if p.suffix.lower() in _ENDINGS[kind])


def quoted(text: str) -> str:
    """Return a text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def bare(cell: str) -> str:
    """Return the SQL of a cell's text without surrounding blanks; most cells have none."""
    ends = f"ascii({cell}) BETWEEN 33 AND 126 AND ascii(right({cell}, 1)) BETWEEN 33 AND 126"
    return f"(CASE WHEN {ends} THEN {cell} ELSE trim({cell}, {quoted(BLANKS)}) END)"


def written(cell: str, kind: str, decimal: str) -> str:
    """Return the SQL of a cell's text, with numbers written as in a text file.

    A whole number has no decimal point even in a column of floats, because other cells may have
    determined the column's type.
    """
    if kind == "VARCHAR":
        return cell
    text = f"CAST({cell} AS VARCHAR)"
    if kind.startswith(("DOUBLE", "FLOAT", "DECIMAL")):
        return f"replace(regexp_replace({text}, '\\.0+$', ''), '.', {quoted(decimal)})"
    return text


def _columns(many: int) -> str:
    return ", ".join(f"c{k}" for k in range(many))


def _places(paths: Iterable[Path]) -> str:
    """Return paths for DuckDB, escaped so that it does not read them as glob patterns."""
    bare = (quoted(re.sub(r"([*?[])", r"[\1]", str(path))) for path in paths)
    return f"[{', '.join(bare)}]"


# Parquet --------------------------------------------------------------------------------------


def _parquet(con: Any, root: Path, label: str, decimal: str) -> tuple[str, list[str]]:
    """Return SQL for a Parquet file or folder, and its names; each file keeps its types.

    Folder names with values (``year=2024``) apply only to folders below ``root``.
    """
    files, shapes = _files(root, "parquet"), defaultdict(list)
    facts = "file_name, name, type, type_length, converted_type, logical_type::VARCHAR"
    for file, *shape in con.execute(
        f"SELECT {facts} FROM parquet_schema({_places(files)})"
    ).fetchall():
        shapes[file].append(tuple(shape))
    alike = defaultdict(list)
    for file in files:
        keys = [part for part in file.relative_to(root).parts[:-1] if "=" in part]
        keys = [] if any("=" in part for part in root.parts) else keys
        hive = tuple(key.partition("=")[0] for key in keys)
        alike[hive, tuple(shapes[str(file)])].append(file)
    parts = []
    for (hive, shape), paths in alike.items():
        sql = f"read_parquet({_places(paths)}, hive_partitioning={bool(hive)}, "
        sql += "hive_types_autocast=false)"
        found, kinds, *_ = zip(*con.execute(f"DESCRIBE FROM {sql}").fetchall(), strict=True)
        wrote = {*hive, *(name for name, *_ in shape)}
        bare = (re.sub(r"_\d+$", "", name) for name in found)  # names that differ only in case
        both = zip(bare, found, strict=True)
        names = [(b if b in wrote and n not in wrote else n).strip() for b, n in both]
        _check_names(names, label)
        parts.append((sql, dict(zip(names, enumerate(kinds), strict=True))))
    return _union(parts, label, decimal)


def _union(
    parts: Sequence[tuple[str, dict[str, tuple[int, str]]]], label: str, decimal: str
) -> tuple[str, list[str]]:
    """Concatenate tables with the same names; columns of different types become text."""
    names = list(parts[0][1])
    if strange := next((own.keys() ^ {*names} for _, own in parts if own.keys() ^ {*names}), None):
        odd = show(min(strange))
        raise DataError(f"Only some files of {label} have a column {odd}; make them alike.")
    mixed = {name for name in names if len({own[name][1] for _, own in parts}) > 1}
    selects = []
    for sql, own in parts:
        places = ((name, f"c{own[name][0]}", own[name][1]) for name in names)
        cells = (written(at, kind, decimal) if n in mixed else at for n, at, kind in places)
        selects.append(f"SELECT {', '.join(cells)} FROM {sql} t({_columns(len(names))})")
    return parts[0][0] if len(parts) == 1 else f"({' UNION ALL '.join(selects)})", names


# Delimited text -------------------------------------------------------------------------------


def _text(
    stack: ExitStack, source: Path, label: str, dialect: Dialect
) -> tuple[str, list[str], str]:
    """Return delimited text, or a folder of it, as SQL, with its names and delimiter."""
    files = [_staged(stack, path, label, dialect) for path in _files(source, "text")]
    packed, names, delimiter, skip = files[0][1]
    if any(head != files[0][1] for _, head, _ in files):
        raise DataError(f"The files of {label} do not have the same header; make them alike.")
    columns = ", ".join(f"'c{k}': 'VARCHAR'" for k in range(len(names)))
    sql = (
        f"read_csv({_places(place for place, *_ in files)}, auto_detect=false, header=true, "
        f"delim={quoted(delimiter)}, quote='\"', escape='\"', columns={{{columns}}}, "
        f"compression='{'gzip' if packed else 'none'}', strict_mode=true, null_padding=false, "
        f"skip={skip}, hive_partitioning=false, max_line_size={2 * _LONGEST}, "
        # line breaks in a cell look like records
        f"parallel={not any(quotes for *_, quotes in files)})"
    )
    return sql, names, delimiter


def _staged(
    stack: ExitStack, path: Path, label: str, dialect: Dialect
) -> tuple[Path, tuple[bool, list[str], str, int], bool]:
    """Return the path of UTF-8 text (in memory if the file is not UTF-8) and its format.

    The format says if it is compressed, its names and delimiter, and the number of lines above the
    names; the last value is true if a quotation mark occurs.
    """
    encoding = dialect.encoding
    try:
        with path.open("rb") as file:
            packed = file.read(2) == b"\x1f\x8b"
        plain: Any = stack.enter_context((gzip.open if packed else open)(path, "rb"))
        start = plain.read(3)
        encoding = next((e for mark, e in _ORDERS.items() if start.startswith(mark)), encoding)
        # UTF-16 without its byte order mark, as its first name shows
        if start[:2].count(b"\0") == 1:
            encoding = "utf-16-le" if start[1] == 0 else "utf-16-be"
        plain.seek(0)
        if encoding != "utf-8":
            chunks = iter(partial(plain.read, _CHUNK), b"")
            packed = False
            path = _memory(stack, (text.encode() for text in codecs.iterdecode(chunks, encoding)))
            plain = stack.enter_context(path.open("rb"))
        names, delimiter, skip, quotes = _header(plain, label, dialect.delimiter)
        return path, (packed, names, delimiter, skip), quotes
    except (UnicodeError, csv.Error, OSError, EOFError, zlib.error):
        raise DataError(
            f"{label} is damaged, or is not {encoding} text with a header line; save it as CSV in "
            "UTF-8, or say its encoding (utf-16 or latin-1)."
        ) from None


def _header(file: Any, label: str, delimiter: str | None) -> tuple[list[str], str, int, bool]:
    """Return names, delimiter (no record decides it), lines above, and if quotation marks occur.

    Excel may write the delimiter on a line above the names: ``sep=;``.
    """
    start = file.read(_CHUNK)
    file.seek(0)
    if b"\r" in start and b"\n" not in start:
        raise DataError(
            f"The lines of {label} end with carriage returns only; save it with line feeds."
        )
    if told := re.match(rb"(?:\xef\xbb\xbf)?sep=([,;\t|])\r?\n", start):
        start, delimiter = start[told.end() :], delimiter or told[1].decode()
    first = start.partition(b"\n")[0]
    quotes = _check_lines(file, rb"\r(?!\n)" if first.endswith(b"\r") else rb"\r", label)
    line = first.decode("utf-8-sig")
    delimiter = delimiter or max(
        DELIMITERS, key=lambda sign: len(next(csv.reader([line], delimiter=sign), ()))
    )
    text = io.StringIO(start.decode("utf-8-sig", "replace"), newline="")
    names = next(csv.reader(text, delimiter=delimiter, skipinitialspace=True), [])
    # after a byte order mark, DuckDB reads the name's second line as a record
    if "\n" in "".join(names[:1]):
        raise DataError(f"The first name of {label} has a line break; put it on one line.")
    if quotes:
        _check_closed(file, delimiter.encode(), label)
    return names, delimiter, int(told is not None), quotes


def _check_lines(file: IO[bytes], wrong: bytes, label: str) -> bool:
    """Refuse a line that is too long, and a carriage return that is not part of a line end.

    Readers disagree about such a carriage return. Return whether a quotation mark occurs.
    """
    line, quotes = 1, False  # line number at the start of the chunk
    while chunk := file.read(_CHUNK) + file.readline(_LONGEST):
        if stray := re.search(wrong, chunk):
            line += chunk.count(b"\n", 0, stray.start())
            why = "has mixed line endings"
            raise DataError(f"Line {line:,} of {label} {why}; end all lines like the header.")
        if len(chunk) - chunk.rfind(b"\n", 0, -1) > _LONGEST:
            line += chunk.count(b"\n", 0, -1)
            raise DataError(f"Line {line:,} of {label} is longer than 2 MB; correct it.")
        line += chunk.count(b"\n")
        quotes |= b'"' in chunk
    return quotes


def _check_closed(file: IO[bytes], delimiter: bytes, label: str) -> None:
    """Refuse a file that ends inside a quoted cell, because DuckDB then omits this record.

    In each run of quotation marks only an odd last one counts. At the start of a cell it opens the
    cell or closes an open one. Elsewhere it closes a cell or is text, so that no cell is open after
    it.
    """
    file.seek(0)
    line, opened = 1, 0  # line number at the start of the chunk, and line of an open cell
    blanks = re.compile(rb"(^|[\n%b]) +(?=\")" % re.escape(delimiter))
    while chunk := file.read(_CHUNK) + file.readline(_LONGEST):
        bare = blanks.sub(rb"\1", chunk) if b' "' in chunk else chunk
        signs = np.frombuffer(bare.removeprefix(codecs.BOM_UTF8), np.uint8)
        at = np.flatnonzero(signs == ord('"'))
        first, last = at[np.diff(at, prepend=-2) > 1], at[np.diff(at, append=len(signs) + 1) > 1]
        odd = first[(last - first) % 2 == 0]
        starts = np.isin(signs[odd - 1], [*b"\n", *delimiter]) | (odd == 0)
        ends = np.flatnonzero(~starts)
        is_open = bool(opened) and not len(ends)
        if len(starts[ends[-1] + 1 if len(ends) else 0 :]) % 2:
            is_open = not is_open
        if len(odd):
            opened = is_open and line + int((signs[: odd[-1]] == ord("\n")).sum())
        line += chunk.count(b"\n")
    if opened:
        raise DataError(f"Line {opened:,} of {label} {_WRONG['unterminated quote']}; correct it.")


# Frames, workbooks and databases --------------------------------------------------------------


def framed(array: np.ndarray, names: Sequence[str] | None = None) -> Any:
    """Return an (n, d) array as a frame with these names, or X0, X1 and so on."""
    import pandas as pd

    if array.ndim != 2 or array.dtype.kind not in "biufOUST":
        raise DataError("An array of data has rows and columns of numbers or words.")
    names = names or [f"X{j}" for j in range(array.shape[1])]
    if len(names) != array.shape[1]:
        raise DataError(f"The array has {array.shape[1]} columns but the schema has {len(names)}.")
    return pd.DataFrame(array, columns=list(names))


def _table(
    kind: str, source: Any, label: str, query: str | None, least: int | None, word: Word
) -> Any:
    """Return any other source as an Arrow table, with cells without a type as text."""
    import pyarrow as pa

    try:
        if kind == "arrow":
            return _single(pa.ipc.open_file(pa.memory_map(str(source))).read_all())
        if kind == "frame":
            return _worded(source, word)
        if kind == "excel":
            return _cells(_sheet(source, label, least), word)
        return _cells(_sqlite(source, label, query, least), word)
    except (InputError, KeyboardInterrupt, MemoryError):
        raise
    except BaseException:  # the reader of workbooks can panic, and this is not an Exception
        raise _refusal("", label, kind) from None


# Types of pandas whose cells have individual types: Arrow would infer one type for all of them,
# which one record could change.
_WORDED = ("period", "interval", "object", "category")


def _worded(frame: Any, word: Word) -> Any:
    """Return an Arrow table of any frame, with untyped columns of pandas as text."""
    import pyarrow as pa

    if type(frame).__module__.partition(".")[0] != "pandas":
        return _single(pa.table(frame))
    if getattr(frame, "columns", None) is None:
        raise DataError("A single column is not a table; give a frame of two columns or more.")
    out = frame.reset_index(drop=True)
    out.columns = range(len(out.columns))  # Arrow's message about equal names is unclear
    for place, kind in enumerate(out.dtypes):
        if str(kind).partition("[")[0] in _WORDED:
            out[place] = out[place].astype(object).map(word).astype("string")
    return _single(pa.table(out).rename_columns(list(map(str, frame.columns))))


def _single(table: Any) -> Any:
    """Return an Arrow table with 16-bit floats as 32-bit floats, because DuckDB lacks 16-bit."""
    import pyarrow as pa

    half = ((k, field) for k, field in enumerate(table.schema) if pa.types.is_float16(field.type))
    for k, field in half:
        table = table.set_column(k, field.name, table.column(k).cast(pa.float32()))
    return table


def _word(decimal: str, value: Any) -> str | None:
    """Return a cell of any type as a person would type it, as valid text."""
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    if isinstance(value, Decimal | np.floating):
        value = float(str(value))
    if isinstance(value, float):
        whole = value.is_integer() and abs(value) < 2**53
        value = str(int(value) if whole else value).replace(".", decimal)
    return None if value is None else str(value).encode("utf-8", "replace").decode()


def _cells(rows: Iterator[Sequence[Any]], word: Word) -> Any:
    """Return rows of cells, the first with the names, as an Arrow table of text."""
    import pyarrow as pa

    schema = pa.schema([(word(name) or "", pa.string()) for name in next(rows, ())])
    parts = iter(lambda: list(islice(rows, 1 << 14)), [])
    batches = (
        pa.record_batch([list(map(word, cells)) for cells in zip(*part, strict=True)], schema)
        for part in parts
    )
    return pa.Table.from_batches(batches, schema)


def _sheet(path: Path, label: str, least: int | None) -> Iterator[Sequence[Any]]:
    """Return the rows of a workbook's first sheet, starting with the first non-blank row."""
    from python_calamine import CalamineWorkbook

    if zipfile.is_zipfile(path):  # sheets in the format before 2007 are small
        _check_book(path, label)
    with path.open("rb") as file:
        rows = CalamineWorkbook.from_filelike(file).get_sheet_by_index(0).to_python()
    rows = list(dropwhile(lambda row: all(cell == "" for cell in row), rows))
    if least == 0:
        raise InputError(
            f'{label} is a workbook, which does not store blank rows at its end: declare "rows" in '
            "the schema, or save it as CSV."
        )
    return chain(rows, [[""] * len(row) for row in rows[:1]] * ((least or 0) + 1 - len(rows)))


_PLACE = re.compile(rb"""\br\s*=\s*["']([A-Z]*)(\d+)["']""", re.IGNORECASE)


def _check_book(path: Path, label: str) -> None:
    """Refuse a workbook that unpacks to more than 1 GB or names a very distant cell.

    Its reader stores the whole area up to the last cell and has no memory limit.
    """
    with zipfile.ZipFile(path) as book:
        large = sum(part.file_size for part in book.infolist()) > _MOST_UNPACKED
        for name in () if large else book.namelist():
            width = height = 1
            for place in _PLACE.finditer(book.read(name)):
                column = reduce(lambda k, letter: 26 * k + letter - 64, place[1].upper(), 0)
                width, height = max(width, column), max(height, int(place[2]))
            large |= width * height > _MOST_CELLS
    if large:
        raise DataError(f"{label} is too large a workbook; save it as CSV.")


def _sqlite(
    path: Path, label: str, query: str | None, least: int | None
) -> Iterator[Sequence[Any]]:
    """Yield the rows of a query on a SQLite file, names first; the file is opened read-only."""
    # A write-ahead log next to the file may hold rows; without one the file is not even locked.
    log = path.with_name(f"{path.name}-wal")
    still = "" if log.exists() and log.stat().st_size else "&immutable=1"
    uri = f"{path.resolve().as_uri()}?mode=ro{still}"
    with closing(sqlite3.connect(uri, uri=True)) as connection:
        connection.text_factory = bytes
        ask = "SELECT name FROM sqlite_master WHERE type = '{}'"
        tables = [name.decode() for (name,) in connection.execute(ask.format("table"))]
        views = [name.decode() for (name,) in connection.execute(ask.format("view"))]
        if query and least == 0:
            _check_join(connection, tables, query, label)
        # As part of a SELECT a query can only read.
        whole = query or _whole(label, [*tables, *views])
        cursor = connection.execute(f"SELECT * FROM ({whole})")
        yield [name for name, *_ in cursor.description]
        yield from cursor


def _check_join(connection: Any, tables: Sequence[str], query: str, label: str) -> None:
    """Refuse a query that gives more rows than any table has, because its join repeats rows.

    A guarantee for the rows of a query would not protect the rows of a table.
    """
    named = (name.replace('"', '""') for name in tables)
    asked = [f'SELECT count(*) FROM "{name}"' for name in named]
    given, *most = (
        connection.execute(one).fetchone()[0] for one in (f"SELECT count(*) FROM ({query})", *asked)
    )
    if given > max(most, default=given):
        raise DataError(
            f"The query gives more rows ({given:,}) than any table of {label} has: a join repeats "
            "rows. Merge them so that each key has one row, or declare the person or the number of "
            "rows."
        )


def _whole(label: str, tables: list[str]) -> str:
    """Return the query that reads a database's only table."""
    if len(tables) != 1:
        known = ", ".join(tables[:5]) or "none"
        raise InputError(f"Choose what to read from {label} with a query; its tables are {known}.")
    return 'SELECT * FROM "{}"'.format(tables[0].replace('"', '""'))
