"""Tables of any length, folded on reading: their distinct rows and how often each occurs.

Everything the engine counts is a function of these, and under a declared schema there are few of
them. DuckDB groups the rows of Parquet files and of its own, in a stated memory and on disk beyond
that; other tables are folded a batch at a time. The files of a Parquet folder are folded one after
the other, or by the workers of a Dask cluster, which share long files by their row groups. A
folded table is sorted and its weights are sums, so it is the same to the byte however the rows
were parted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.dataset as arrow_dataset
import pyarrow.parquet as parquet

from engine.cluster import spread
from engine.data import doors
from engine.data.dataset import Dataset
from engine.data.distinct import Folded, Folding
from engine.data.numerals import Numbers
from engine.data.persons import Gathering, gathered, person_rows
from engine.data.reading import check_names, folded_dataset
from engine.data.schema import Column, Schema
from engine.data.source import Source
from engine.data.tally import Batches, Coder, batch_codes
from engine.errors import DataError, InputError
from engine.version import __version__

MEMORY = "1GB"  # what DuckDB may hold; the rest is spilled
LOOK = 0.2  # seconds between two looks at how far DuckDB is
# Called with how much is folded, of how much if that is known, and what it counts: "files", "%" or
# "rows".
Watch = Callable[[int, int | None, str], None]

# Types whose values are grouped as they are, and those that are binned as numbers.
_WHOLE = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"}
_PLAIN = {"VARCHAR", "BOOLEAN", "DATE", *_WHOLE}
_BINNED = {"FLOAT", "DOUBLE", *_WHOLE}


def _unwatched(done: int, total: int | None, unit: str) -> None:
    """Nobody asks how far it is."""


def fold_table(
    source: Any,
    *,
    schema: Schema,
    query: str | None = None,
    sheet: str | None = None,
    scheduler: str | None = None,
    truth: Source | None = None,
    name: str | None = None,
    encoding: str = "utf-8",
    decimal: str | None = None,
    thousands: str | None = None,
    watch: Watch = _unwatched,
) -> Dataset:
    """Read any table under a declared schema without ever holding its rows.

    The dataset has weights; a run on it gives what the same rows in ascending order give. At most
    ``MAX_FOLDED`` rows.

    Args:
        source: As for :func:`engine.read_table`.
        schema: The declared public facts; a cell they do not foresee counts as their ``other``.
        query: SQL on a database file.
        sheet: Of a workbook.
        scheduler: The address of a Dask cluster that folds a Parquet file or the files of a folder,
            which every worker must see at the same path; without it this process folds them.
        truth: True edges, as for :func:`engine.read_csv`.
        name: What the dataset is called.
        encoding: Of text.
        decimal: How numbers are written in text.
        thousands: Likewise.
        watch: Called with (files folded, files in all, "files"), or with "parts" where a cluster
            shares long files; for one table with (percent, 100, "%") where DuckDB groups it, else
            with (rows so far, None, "rows").

    Returns:
        A private, declared dataset of distinct rows and how often each occurs.

    Raises:
        DataError: For a bad table, in one sentence.
        InputError: For a bad argument, in one sentence.

    Examples:
        >>> import pandas as pd
        >>> from engine.data.schema import Column, Schema
        >>> two = {"type": "ordered", "levels": ("no", "yes")}
        >>> schema = Schema((Column(name="smokes", **two), Column(name="coughs", **two)))
        >>> frame = pd.DataFrame({"smokes": ["no", "yes", "no"], "coughs": ["no", "yes", "no"]})
        >>> data = fold_table(frame, schema=schema)
        >>> data.codes.tolist(), data.weights.tolist()
        ([[0, 0], [1, 1]], [2, 1])
    """
    numbers = Numbers(decimal, thousands)
    path = Path(source) if isinstance(source, str | Path) else None
    kind = None if path is None or doors.is_frame(source) else doors.kind_of(path)
    if scheduler is not None and kind != "parquet":
        raise InputError("A cluster folds Parquet files; give one, or a folder of them.")
    if schema.person is not None:
        found = _gather(source, query, sheet, scheduler, encoding, schema, numbers, watch)
    elif path is not None and kind == "parquet" and query is None and sheet is None:
        found = _fold_files(_files(path), schema, numbers, scheduler, watch)
    elif path is not None and kind == "duckdb" and sheet is None:
        found = _fold_database(path, query, schema, numbers, watch)
    else:
        read = partial(_fold_batches, schema=schema, numbers=numbers, watch=watch)
        found = doors.through_door(source, query, sheet, encoding, read)
    label = path.name if path is not None else "data"
    return folded_dataset(found, schema, label, name, truth)


def _fold_batches(
    batches: Batches,
    schema: Schema,
    numbers: Numbers,
    coders: Sequence[Coder] | None = None,
    watch: Watch = _unwatched,
) -> Folded:
    """Fold a batch at a time; a column after those named counts how many rows a row stands for."""
    check_names(batches)
    batches, numbers = batches.stated(schema.rows), batches.written(numbers)
    places = schema.places(batches.names, batches.label)
    folding, rows = Folding(tuple(map(len, schema.levels))), 0
    for arrays in batches.arrays:
        codes = batch_codes(batches, arrays, places, coders or schema.coders(numbers))
        counted = arrays[len(batches.names) :]
        weights = counted[0].to_numpy() if counted else np.ones(len(arrays[0]), np.int64)
        folding.add(Folded(np.stack(list(codes), axis=1), weights))
        rows += int(weights.sum())
        watch(rows, None, "rows")
    return folding.finish()


# Persons ------------------------------------------------------------------------------


def _gather(
    source: Any,
    query: str | None,
    sheet: str | None,
    scheduler: str | None,
    encoding: str,
    schema: Schema,
    numbers: Numbers,
    watch: Watch,
) -> Folded:
    """One row a person. A cluster codes the files' rows; persons are brought together here."""
    if scheduler is None:

        def read(batches: Batches) -> Folded:
            check_names(batches)
            return gathered(batches, schema, batches.written(numbers), watch)

        return doors.through_door(source, query, sheet, encoding, read)
    tasks = [part for file in _files(Path(source)) for part in _parts(file)]
    found = spread(scheduler, _rows_remotely, tasks, schema, numbers, __version__)
    with Gathering(schema) as gathering:
        watch(0, len(tasks), "parts")
        for done, rows in enumerate(found, 1):
            gathering.add(rows)
            watch(done, len(tasks), "parts")
        return gathering.finish()


def _rows_remotely(part: Part, schema: Schema, numbers: Numbers, version: str) -> pa.Table:
    _check_worker(part, version)

    def read(batches: Batches) -> pa.Table:
        check_names(batches)
        return pa.concat_tables(person_rows(batches, schema, numbers))

    groups = None if part.groups is None else range(*part.groups)
    return doors.parquet_or_arrow(Path(part.file), "parquet", read, groups)


# Partitions ---------------------------------------------------------------------------


def _files(path: Path) -> list[str]:
    """The Parquet file, or those of a folder, as any machine with the same disk finds them."""
    if path.is_file():
        return [str(path.resolve())]
    try:
        files = arrow_dataset.dataset(str(path.resolve()), format="parquet").files
    except (pa.ArrowInvalid, OSError):
        files = []
    if not files:
        raise DataError(f"The folder {path.name} holds no Parquet files that can be read.")
    return list(files)


class Part(NamedTuple):
    """Row groups of a Parquet file, from ``first`` up to and without ``last``; None: all of it."""

    file: str
    groups: tuple[int, int] | None = None


_PART_ROWS = 2_000_000  # a worker's task is worth this many; row groups are not cut


def _parts(file: str) -> list[Part]:
    """A file's row groups, put together to tasks; the whole file where it has no name for rows."""
    try:
        metadata = parquet.read_metadata(file)
    except (pa.ArrowInvalid, OSError):
        return [Part(file)]  # whoever reads it says what is wrong
    if _NUMBER in {name.lower() for name in metadata.schema.to_arrow_schema().names}:
        return [Part(file)]
    ends = np.cumsum([metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)])
    # A part ends with the group that fills it.
    filling = np.flatnonzero(np.diff(ends // _PART_ROWS, prepend=0)).tolist()
    cuts = sorted({0, *(group + 1 for group in filling), len(ends)})
    if len(cuts) <= 2:
        return [Part(file)]
    return [Part(file, groups) for groups in pairwise(cuts)]


def _fold_files(
    files: list[str], schema: Schema, numbers: Numbers, scheduler: str | None, watch: Watch
) -> Folded:
    if scheduler is None and len(files) == 1:
        return fold_part(Part(files[0]), schema, numbers, watch=watch)
    folding = Folding(tuple(map(len, schema.levels)))
    found: Iterator[Folded]
    if scheduler is None:
        parts = [Part(file) for file in files]
        found = (fold_part(part, schema, numbers) for part in parts)
    else:
        parts = [part for file in files for part in _parts(file)]
        found = spread(scheduler, _fold_remotely, parts, schema, numbers, __version__)
    unit = "files" if len(parts) == len(files) else "parts"
    watch(0, len(parts), unit)
    for done, one in enumerate(found, 1):
        folding.add(one)
        watch(done, len(parts), unit)
    return folding.finish()


def _fold_remotely(part: Part, schema: Schema, numbers: Numbers, version: str) -> Folded:
    """On a worker, which has one thread a task."""
    _check_worker(part, version)
    return fold_part(part, schema, numbers, threads=1)


def _check_worker(part: Part, version: str) -> None:
    if version != __version__:
        raise InputError(f"A worker runs engine {__version__}, you run {version}; make them equal.")
    if not Path(part.file).is_file():
        raise DataError(f"A worker finds no file {Path(part.file).name}; share it with the worker.")


_NUMBER = "file_row_number"  # DuckDB's name for a row's place in its file
_WHOLE_FILE = "read_parquet(?, hive_partitioning = false)"
# DuckDB looks up which row groups these are and reads no other.
_PART_OF_FILE = (
    f"(SELECT * EXCLUDE ({_NUMBER}) FROM read_parquet(?, hive_partitioning = false, "
    f"{_NUMBER} = true) WHERE {_NUMBER} >= {{}} AND {_NUMBER} < {{}})"
)


def fold_part(
    part: Part,
    schema: Schema,
    numbers: Numbers,
    threads: int | None = None,
    watch: Watch = _unwatched,
) -> Folded:
    """Fold of one Parquet file: by DuckDB where its types are plain, else a batch at a time."""
    path = Path(part.file)

    def complaint(reason: str) -> InputError:
        return DataError(f"{path.name} cannot be read as Parquet: {reason}.")

    read = partial(_fold_batches, schema=schema, numbers=numbers, watch=watch)
    try:
        names = parquet.read_schema(path).names
        table = _table(part)
    except (pa.ArrowInvalid, OSError) as error:
        raise complaint(str(error).partition("\n")[0][:120].rstrip(".")) from None
    if not any(sign in part.file for sign in "*?[{"):  # which DuckDB takes for patterns
        with doors.connected(None, complaint) as connection:
            if threads is not None:
                connection.execute(f"SET threads = {threads:d}")
            arguments = [part.file]
            found = _group(connection, table, arguments, schema, numbers, path.name, watch, names)
        if found is not None:
            return found
    groups = None if part.groups is None else range(*part.groups)
    return doors.parquet_or_arrow(path, "parquet", read, groups)


def _table(part: Part) -> str:
    """The part as DuckDB reads it; its file is the argument."""
    if part.groups is None:
        return _WHOLE_FILE
    metadata = parquet.read_metadata(part.file)
    rows = [metadata.row_group(i).num_rows for i in range(part.groups[1])]
    return _PART_OF_FILE.format(sum(rows[: part.groups[0]]), sum(rows))


# Grouping by DuckDB -------------------------------------------------------------------


def _fold_database(
    path: Path, query: str | None, schema: Schema, numbers: Numbers, watch: Watch
) -> Folded:
    with doors.connected(path, doors.unanswered(path)) as connection:
        # A view takes a query as a person ends it, with a semicolon or a comment.
        connection.execute(f"CREATE TEMP VIEW asked AS {doors.asked(connection, path, query)}")
        found = _group(connection, "temp.asked", [], schema, numbers, path.name, watch)
    if found is not None:
        return found
    read = partial(_fold_batches, schema=schema, numbers=numbers, watch=watch)
    return doors.database(path, "duckdb", query, read)


def _group(
    connection: Any,
    table: str,
    arguments: list[str],
    schema: Schema,
    numbers: Numbers,
    label: str,
    watch: Watch,
    names: Sequence[str] | None = None,
) -> Folded | None:
    """The table's rows grouped by DuckDB and coded; None where it might read a cell otherwise.

    ``names`` are the columns as their file has them.
    """
    described = connection.execute(f"DESCRIBE SELECT * FROM {table}", arguments).fetchall()
    types = {str(row[0]): str(row[1]) for row in described}
    schema.places(list(types) if names is None else names, label)
    if names is not None and list(types) != list(names):
        return None  # names that differ in upper and lower case alone
    ways = [_way(column, types[column.name], numbers) for column in schema.columns]
    found = [way for way in ways if way is not None]
    if len(found) < len(ways):
        return None
    connection.execute(f"SET memory_limit = '{MEMORY}'")
    columns = ", ".join(expression for expression, _ in found)
    grouped = f"SELECT {columns}, count(*) FROM {table} GROUP BY ALL"

    def group() -> Folded:
        reader = connection.sql(grouped, params=arguments).to_arrow_reader(doors.BATCH)
        arrays = (batch.columns for batch in reader)
        batches = Batches(label, list(schema.names), arrays)
        return _fold_batches(batches, schema, numbers, [coder for _, coder in found])

    return _watched(connection, group, watch)


def _watched(connection: Any, work: Callable[[], Folded], watch: Watch) -> Folded:
    """Let DuckDB work in a thread and say how far it is; an interrupt here stops it there."""
    connection.execute("SET enable_progress_bar = true")
    connection.execute("SET enable_progress_bar_print = false")
    with ThreadPoolExecutor(1) as pool:
        job = pool.submit(work)
        try:
            while not wait([job], LOOK).done:
                watch(max(0, int(connection.query_progress())), 100, "%")
        except BaseException:
            connection.interrupt()
            raise
    watch(100, 100, "%")
    return job.result()


def _way(column: Column, kind: str, numbers: Numbers) -> tuple[str, Coder] | None:
    """What DuckDB groups a column by, and what codes that; None for a type that it writes its way.

    A number is binned before it is grouped: the values themselves may all differ.
    """
    quoted = '"{}"'.format(column.name.replace('"', '""'))
    if column.type == "numeric" and kind in _BINNED and not numbers.said:
        value = f"{quoted}::DOUBLE"
        above = " + ".join(f"({value} >= {cut!r}::DOUBLE)::UTINYINT" for cut in column.points())
        other = int(column.codes([""], numbers)[0])  # infinite is no number either
        return f"CASE WHEN isfinite({value}) THEN {above} ELSE {other} END", _as_codes
    if kind in _PLAIN or kind.startswith("ENUM("):
        return quoted, partial(column.codes, numbers=numbers)
    return None


def _as_codes(words: list[str]) -> np.ndarray:
    return np.array(words).astype(np.uint8)
