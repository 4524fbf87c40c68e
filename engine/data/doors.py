"""Tables that come with types: Parquet and Arrow files, frames, Excel sheets, SQL queries."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import datetime
from decimal import Decimal
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from engine.data import delimited, workbook
from engine.data.levels import MAX_LEVELS, repeated
from engine.data.source import stream
from engine.data.tally import Batches, decimal_text, texts
from engine.errors import DataError, InputError, show

T = TypeVar("T")
Read = Callable[[Batches], T]
BATCH = 1 << 17
_EXCEL = {".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"}
_ARROW = {".arrow", ".feather", ".ipc"}


# What a library says of a value it cannot take quotes it, and a refusal may leave the house.
_STRANGE = "The frame has a column of a type that is not read; make it text, numbers or dates."
_STRANGE_ANSWER = "a value is not what the query takes it for"


def is_frame(source: Any) -> bool:
    """Whether it is a table in memory: pandas, Polars, Arrow, DuckDB all speak Arrow's stream."""
    return hasattr(source, "__arrow_c_stream__")


def kind_of(path: Path) -> str:
    """What a file is by its first bytes: parquet, arrow, excel, sqlite, duckdb, else text."""
    if path.is_dir():
        return "parquet"
    try:
        with path.open("rb") as file:
            start = file.read(16)
    except (OSError, ValueError):
        return "text"  # whose reader says what is wrong with the path
    if start.startswith(b"PAR1"):
        return "parquet"
    if start.startswith(b"SQLite format 3\0"):
        return "sqlite"
    if start[8:12] == b"DUCK":
        return "duckdb"
    if start.startswith(b"ARROW1") or path.suffix.lower() in _ARROW:
        return "arrow"
    zipped = start.startswith(b"PK\x03\x04") or start.startswith(b"\xd0\xcf\x11\xe0")
    return "excel" if zipped and path.suffix.lower() in _EXCEL else "text"


def through_door(
    source: Any, query: str | None, sheet: str | None, encoding: str, read: Read[T]
) -> T:
    """What ``read`` makes of the batches of any table that :func:`read_table` knows."""
    path = Path(source) if isinstance(source, str | Path) else None
    kind = "frame" if is_frame(source) else "text" if path is None else kind_of(path)
    if query is not None and kind not in ("sqlite", "duckdb"):
        raise InputError("A query needs a SQLite or DuckDB file.")
    if sheet is not None and kind != "excel":
        raise InputError("A sheet needs an Excel workbook.")
    if kind == "text":
        return delimited.delimited(stream(source, encoding), read)
    if encoding != "utf-8":
        raise InputError("An encoding is for text; this table says its own.")
    if kind == "frame":
        return frame(source, read)
    assert path is not None
    if kind == "excel":
        return excel(path, sheet, read)
    if kind in ("sqlite", "duckdb"):
        return database(path, kind, query, read)
    return parquet_or_arrow(path, kind, read)


def frame(source: Any, read: Read[T]) -> T:
    """A pandas, Polars or Arrow table, a batch at a time."""
    _check_frame(source)
    try:
        reader = pa.RecordBatchReader.from_stream(_typed(source))
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        raise DataError(_STRANGE) from None
    with reader:
        meant = type(source).__module__.partition(".")[0] == "pandas"
        try:
            return read(batches_of("data", reader.schema, iter(reader), categories=meant))
        except pa.ArrowException:
            raise DataError(_STRANGE) from None


def _check_frame(source: Any) -> None:
    """Refuse what no frame of levels can be, in words and not in Arrow's; DataError."""
    columns: Any = getattr(source, "columns", None)
    if columns is None and not hasattr(source, "schema"):
        raise DataError("A single column is no table; give a frame of two columns or more.")
    if type(source).__module__.partition(".")[0] != "pandas":
        return
    names = [str(name) for name in columns]
    if len(set(names)) < len(names):
        twice = show(repeated(names))
        raise DataError(f"Two columns of the frame are called {twice}; rename or delete one.")
    for name, kind in zip(names, source.dtypes, strict=True):
        if getattr(kind, "kind", "") == "c":
            raise DataError(
                f"Column {show(name)} holds complex numbers, which have no order and are no "
                "levels; split it in two."
            )


# Types of pandas that Arrow knows no words for; each of their cells has a text of its own.
_WORDED = ("period", "interval", "object")


def _typed(source: Any) -> Any:
    """A pandas frame whose columns of objects are text: each of their cells is read by itself.

    Arrow would find one type for all cells of such a column, which one record can change.
    """
    if type(source).__module__.partition(".")[0] != "pandas" or not hasattr(source, "isetitem"):
        return source
    out = source
    for place, kind in enumerate(source.dtypes):
        held = getattr(getattr(kind, "categories", None), "dtype", kind)
        if str(held).partition("[")[0] in _WORDED:
            out = source.copy(deep=False) if out is source else out
            cells = source.iloc[:, place]
            if held is not kind:
                cells = _renamed(cells)
            else:
                cells = cells.astype(object).map(_cell).astype("string")
            out.isetitem(place, cells)
    return out


def _renamed(cells: Any) -> Any:
    """A categorical column of objects, its categories as text; or as text where two look alike."""
    words = [_cell(value) or "" for value in cells.cat.categories]
    if len(set(words)) < len(words):
        return cells.astype(object).map(_cell).astype("string")
    return cells.cat.rename_categories(words)


def _cell(value: Any) -> str | None:
    """A cell of any type as text that is valid everywhere; None where it is missing."""
    if value is None or value is NotImplemented:
        return None
    if isinstance(value, Decimal):
        return decimal_text(value)
    if not isinstance(value, str):
        if isinstance(value, np.generic):
            value = value.item()
        # NaN and its kin (pandas' NaT and NA) are not equal to themselves.
        same = value == value if isinstance(value, int | float | datetime) else True
        if same is not True or type(value).__name__ in ("NAType", "NaTType"):
            return None
    return workbook.text(value, strip=False).encode("utf-8", "replace").decode()


def parquet_or_arrow(
    path: Path, kind: str, read: Read[T], groups: Sequence[int] | None = None
) -> T:
    """A Parquet or Arrow file, or a folder of Parquet files; text stays encoded as it is stored.

    ``groups`` are a Parquet file's row groups, all of them unless some are named.
    """
    try:
        if kind == "parquet" and path.is_file():
            return read(_parquet_file(path, groups))
        import pyarrow.dataset as arrow_dataset  # here: it loads pandas, half a second

        files = arrow_dataset.dataset(str(path), format="ipc" if kind == "arrow" else kind)
        batches = files.to_batches(batch_size=BATCH, use_threads=False)
        return read(batches_of(path.name, files.schema, batches))
    except (pa.ArrowInvalid, OSError) as error:
        reason = str(error).partition("\n")[0][:120].rstrip(".")
        raise DataError(f"{path.name} cannot be read as {kind.title()}: {reason}.") from None


def _parquet_file(path: Path, groups: Sequence[int] | None) -> Batches:
    import pyarrow.parquet as parquet  # here: it loads pyarrow.dataset

    schema = parquet.read_schema(path)
    text = [
        f.name for f in schema if pa.types.is_string(f.type) or pa.types.is_large_string(f.type)
    ]
    file = parquet.ParquetFile(path, read_dictionary=text)
    batches = file.iter_batches(BATCH, row_groups=groups, use_threads=True)
    return batches_of(path.name, schema, batches)


def batches_of(
    label: str, schema: pa.Schema, batches: Iterator[pa.RecordBatch], *, categories: bool = False
) -> Batches:
    """Record batches as a table on its way in; ``categories`` says that dictionaries are meant."""
    names = [str(name) for name in schema.names]
    first = next((b for b in batches if b.num_rows), None)
    # An ordered dictionary (a pandas Categorical, a Polars Enum) declares its levels itself.
    ordered, arranged = {}, {}
    if first is not None:
        for name, array in zip(names, first.columns, strict=True):
            if not isinstance(array, pa.DictionaryArray):
                continue
            if array.type.ordered:
                ordered[name] = texts(array.dictionary, name)
            elif categories and len(array.dictionary) <= MAX_LEVELS:
                arranged[name] = texts(array.dictionary, name)

    def arrays() -> Iterator[list[pa.Array]]:
        if first is not None:
            yield first.columns
        yield from (batch.columns for batch in batches if batch.num_rows)

    return Batches(label, names, arrays(), ordered=ordered, arranged=arranged)


# Excel ------------------------------------------------------------------------------


def excel(path: Path, sheet: str | None, read: Read[T]) -> T:
    """One sheet of a workbook, the first unless one is named; its first row names the columns."""
    with workbook.opened(path, sheet) as found:
        batches = _below_blank(found.batches)
        top = next(batches, None)
        if top is None:
            raise DataError(
                f"The sheet {found.name} of {path.name} is empty; name another (sheet)."
            )
        header = [str(array[0]) for array in top]
        several = len(found.names) > 1
        notes = (f"Of {len(found.names)} sheets, {found.name} was read.",) if several else ()
        rest = chain([[array.slice(1) for array in top]], batches)
        arrays = (columns for columns in rest if len(columns[0]))
        return read(Batches(path.name, header, arrays, notes=notes, sparse=True))


def _below_blank(batches: Iterator[list[pa.Array]]) -> Iterator[list[pa.Array]]:
    """The rows from the first that holds anything: the header's."""
    for columns in batches:
        held = np.any([[word != "" for word in c.to_pylist()] for c in columns], axis=0)
        if np.any(held):
            yield [c.slice(int(held.argmax())) for c in columns]
            break
    yield from batches


# Databases --------------------------------------------------------------------------


def database(path: Path, kind: str, query: str | None, read: Read[T]) -> T:
    """What an SQL query on a SQLite or DuckDB file gives; the file is opened for reading alone."""
    return _sqlite(path, query, read) if kind == "sqlite" else _duckdb(path, query, read)


# What a statement that only reads may do.
_READING = {
    sqlite3.SQLITE_SELECT,
    sqlite3.SQLITE_READ,
    sqlite3.SQLITE_FUNCTION,
    sqlite3.SQLITE_RECURSIVE,
}


def _sqlite(path: Path, query: str | None, read: Read[T]) -> T:
    # A log beside the file may hold rows; without one the file is not even locked.
    log = path.with_name(f"{path.name}-wal")
    still = "" if log.exists() and log.stat().st_size else "&immutable=1"
    place = f"{path.resolve().as_uri()}?mode=ro{still}"
    prepared = False
    try:
        with closing(sqlite3.connect(place, uri=True)) as connection:
            connection.set_authorizer(_only_reading)
            connection.text_factory = partial(str, encoding="utf-8", errors="replace")
            listed = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view')"
            sql = query or _whole(path, [name for (name,) in connection.execute(listed)])
            connection.execute(f"EXPLAIN {sql}")  # what is wrong with its words is wrong here
            prepared = True
            cursor = connection.execute(sql)
            if cursor.description is None:
                raise InputError("The query gives no table; write a SELECT.")
            names = [column[0] for column in cursor.description]
            return read(
                Batches(path.name, names, workbook.text_batches(iter(cursor), BATCH, workbook.text))
            )
    except (sqlite3.Error, sqlite3.Warning) as error:
        # On the way through the rows an error of no kind of its own quotes what a row holds.
        plain = getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_ERROR
        said = _STRANGE_ANSWER if prepared and plain else str(error).rstrip(".")
        raise unanswered(path)(said) from None


def _only_reading(action: int, *_: Any) -> int:
    """Refuse whatever writes, attaches or changes a setting: ``VACUUM INTO`` writes a file."""
    return sqlite3.SQLITE_OK if action in _READING else sqlite3.SQLITE_DENY


def _duckdb(path: Path, query: str | None, read: Read[T]) -> T:
    with connected(path, unanswered(path)) as connection:
        answer = connection.sql(asked(connection, path, query))
        if answer is None:
            raise InputError("The query gives no table; write a SELECT.")
        reader = answer.to_arrow_reader(BATCH)
        return read(batches_of(path.name, reader.schema, iter(reader)))


def unanswered(path: Path) -> Callable[[str], InputError]:
    """What to say where a database file and a query do not go together."""
    return lambda reason: InputError(f"{path.name} does not answer the query: {reason}.")


@contextmanager
def connected(path: Path | None, complaint: Callable[[str], InputError]) -> Iterator[Any]:
    """DuckDB on a database file, opened for reading alone, or on none.

    What does not fit in memory is spilled to a folder that only this user can read. Whatever DuckDB
    finds wrong is said by ``complaint``.
    """
    import duckdb  # here: it takes a tenth of a second to load

    place = ":memory:" if path is None else str(path)
    with tempfile.TemporaryDirectory(prefix="duckdb-") as folder:
        try:
            with duckdb.connect(place, read_only=path is not None) as connection:
                connection.execute("SET temp_directory = ?", [folder])
                connection.execute("SET python_enable_replacements = false")
                if path is not None:
                    connection.execute("SET enable_external_access = false")
                yield connection
        except duckdb.Error as error:
            quotes = not isinstance(error, _of_no_value())
            said = _STRANGE_ANSWER if quotes else str(error).partition("\n")[0][:160].rstrip(".")
            raise complaint(said) from None


def _of_no_value() -> tuple[type[Exception], ...]:
    """What DuckDB says of a query's words, of files and of memory: it quotes no cell."""
    import duckdb

    words = duckdb.ParserException, duckdb.BinderException, duckdb.CatalogException
    closed = duckdb.PermissionException, duckdb.IOException, duckdb.OutOfMemoryException
    return *words, duckdb.SyntaxException, *closed


def asked(connection: Any, path: Path, query: str | None) -> str:
    """The query on a DuckDB file, or its only table; InputError for more than a SELECT."""
    import duckdb

    if query is not None:
        kinds = [one.type for one in connection.extract_statements(query)]
        if kinds != [duckdb.StatementType.SELECT]:
            raise InputError("The query gives no table; write a SELECT.")
        return query
    listed = "SELECT table_name FROM information_schema.tables"
    return _whole(path, [n for (n,) in connection.execute(listed).fetchall()])


def _whole(path: Path, tables: list[str]) -> str:
    if len(tables) != 1:
        listed = ", ".join(tables[:5]) or "none"
        raise InputError(f"Say what to read of {path.name} (query); its tables are {listed}.")
    return 'SELECT * FROM "{}"'.format(tables[0].replace('"', '""'))
