"""Results of cells in one SQLite file, shared by studies and safe against sudden ends.

Every cell is committed as it comes, in write-ahead mode: a killed process loses at most the cell it
was in, and several processes may write to one file. A file that is not a store of this program, or
a damaged one, is refused with one sentence and left as it is.
"""

from __future__ import annotations

import json
import math
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import asdict, fields
from pathlib import Path
from threading import RLock
from typing import Any, Self

from engine.errors import InputError, cut, show, writable
from engine.graphs.metrics import Scores
from engine.studies.cells import SCORED, Cell, CellResult

APPLICATION_ID = int.from_bytes(b"DPCX", "big")
SCHEMA_VERSION = 2
BUSY_SECONDS = 30.0

_MAGIC = b"SQLite format 3\0"
_APPLICATION_AT = 68  # where SQLite's file header holds the application id
_JOURNAL_AT = 18  # and where the two versions of its journal: 2 is write-ahead, 1 is not
_TABLES = ("cells", "studies")
# What SQLite says of a damaged file may quote bytes of it, which need not be text.
_BROKEN = (sqlite3.Error, UnicodeDecodeError)
_COLUMNS = tuple(f.name for f in fields(CellResult) if f.name != "cpu")
_JSON = ("ci_tests_by_order", "cpdag", "metrics_tested", "untested")  # kept as JSON text
# What files of version 1 do not have; a file is brought up to date when it is opened.
_ADDED = ("metrics_tested", "untested")
_KEY = ("fingerprint", "algorithm", "params", "seed", "version")
_TYPES = {"seed": "INTEGER", "shd": "INTEGER", "ci_tests": "INTEGER"} | dict.fromkeys(
    (
        *("seconds", "skeleton_f1", "directed_f1", "precision", "recall"),
        *("claimed_epsilon", "claimed_delta", "spent_epsilon", "spent_delta"),
    ),
    "REAL",
)
_NUMBER = (int, float)
_MAYBE = (int, float, type(None))
# What a sound row holds: text, but for these; metrics and claims may be missing.
_EXPECTED: dict[str, tuple[type, ...]] = {
    **dict.fromkeys((c for c in _COLUMNS if c not in _TYPES and c not in _JSON), (str,)),
    **dict.fromkeys((c for c in _TYPES if c not in ("seed", "ci_tests")), _MAYBE),
    **dict.fromkeys(("seed", "ci_tests"), (int,)),
    **dict.fromkeys(("seconds", "spent_epsilon", "spent_delta"), _NUMBER),
}
_DECLARED = ", ".join(f"{c} {_TYPES.get(c, 'TEXT')}" for c in _COLUMNS)
_SCHEMA = (
    f"CREATE TABLE cells ({_DECLARED}, PRIMARY KEY ({', '.join(_KEY)})) WITHOUT ROWID",
    "CREATE TABLE studies (name TEXT PRIMARY KEY, spec TEXT NOT NULL)",
    f"PRAGMA application_id = {APPLICATION_ID}",
    f"PRAGMA user_version = {SCHEMA_VERSION}",
)
_STEP = (
    *(f"ALTER TABLE cells ADD COLUMN {column} TEXT" for column in _ADDED),
    f"PRAGMA user_version = {SCHEMA_VERSION}",
)
_WHERE = " AND ".join(f"{c} = ?" for c in _KEY)
# The first writer of a cell wins: the others computed the same.
_INSERT = (
    f"INSERT OR IGNORE INTO cells ({', '.join(_COLUMNS)}) VALUES ({', '.join('?' * len(_COLUMNS))})"
)


class ResultStore:
    """One file of results. Use it as a context manager, or call :meth:`close`.

    Raises InputError, in one sentence, for a path that cannot be used, a foreign file, a damaged
    one, and one written by a newer version of this program.
    """

    def __init__(self, path: str | os.PathLike[str]):
        self.path = Path(path)
        self.damaged: list[str] = []  # rows that could not be read, as they were met
        self._lock = RLock()
        _refuse_foreign(self.path)
        with self._explained():
            self._connection = _connect(self.path)

    @classmethod
    def of_bytes(cls, content: bytes, name: str) -> Self:
        """A store in memory with what a file from elsewhere holds; nothing of it is run.

        Args:
            content: The file.
            name: What it is called, for sentences.

        Raises:
            InputError: For what is no such file, has more in it than tables of ours, is damaged, or
                was written by a newer version.
        """
        path = Path(name)
        _refuse_header(path, content[:100])
        found = cls(":memory:")
        found.path = path
        try:
            with found._explained():
                _take_over(found._connection, content, path)
        except BaseException:
            found.close()
            raise
        return found

    def to_bytes(self) -> bytes:
        """The whole file, as of now."""
        with self._explained():
            return self._connection.serialize()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the connection; what was put is on disk already."""
        self._connection.close()

    def put(self, results: Iterable[CellResult]) -> None:
        """Keep results, all in one transaction."""
        rows = [tuple(_to_sql(r, c) for c in _COLUMNS) for r in results]
        with self._explained(), self._connection:
            self._connection.executemany(_INSERT, rows)

    def get(self, cell: Cell) -> CellResult | None:
        """The kept result of a cell, under the name that the cell gives its dataset.

        Raises InputError where the row of this very cell is damaged; it stays as it is.
        """
        with self._explained():
            sql = f"SELECT {', '.join(_COLUMNS)} FROM cells WHERE {_WHERE}"
            row = self._connection.execute(sql, cell.key).fetchone()
        if row is None:
            return None
        found = _from_sql(row)
        if found is None:
            raise InputError(
                f"{self.path} has a damaged row ({_named(row)}), which was left as it is; ask for "
                "its repair (--repair) to compute it again."
            )
        if found.dataset == cell.dataset:
            return found
        return CellResult(**{**_as_fields(found), "dataset": cell.dataset})

    def repair(self, cells: Iterable[Cell]) -> int:
        """Take out the damaged rows of these cells, so that they are computed again; how many."""
        count = 0
        for cell in cells:
            with self._explained(), self._connection:
                sql = f"SELECT {', '.join(_COLUMNS)} FROM cells WHERE {_WHERE}"
                row = self._connection.execute(sql, cell.key).fetchone()
                if row is not None and _from_sql(row) is None:
                    self._connection.execute(f"DELETE FROM cells WHERE {_WHERE}", cell.key)
                    count += 1
        return count

    def has(self, cell: Cell) -> bool:
        """Whether the cell's result is kept."""
        with self._explained():
            sql = f"SELECT 1 FROM cells WHERE {_WHERE}"
            return self._connection.execute(sql, cell.key).fetchone() is not None

    def results(self, version: str | None = None) -> Iterator[CellResult]:
        """Every kept result in a fixed order, or those of one engine version.

        Damaged rows are passed over and named in ``damaged``.
        """
        order = f"ORDER BY {', '.join(('dataset', *_KEY))}"
        if version is None:
            return self._select(order, ())
        return self._select(f"WHERE version = ? {order}", (version,))

    def mean_seconds(self, fingerprint: str, algorithm: str) -> float | None:
        """How long the kept runs of an algorithm on a dataset took, on average."""
        with self._explained():
            sql = "SELECT avg(seconds) FROM cells WHERE fingerprint = ? AND algorithm = ?"
            value = self._connection.execute(sql, (fingerprint, algorithm)).fetchone()[0]
        return None if value is None else float(value)

    def __len__(self) -> int:
        with self._explained():
            return int(self._connection.execute("SELECT count(*) FROM cells").fetchone()[0])

    def save_study(self, name: str, spec: Mapping[str, Any]) -> None:
        """Remember under a name what a study asked for, any JSON; replaces one of that name."""
        with self._explained(), self._connection:
            sql = "INSERT OR REPLACE INTO studies (name, spec) VALUES (?, ?)"
            self._connection.execute(sql, (name, json.dumps(spec, sort_keys=True)))

    def studies(self) -> dict[str, dict[str, Any]]:
        """The remembered studies by name."""
        with self._explained():
            rows = self._connection.execute("SELECT name, spec FROM studies ORDER BY name")
            found = {}
            for name, spec in rows:
                try:
                    found[name] = dict(json.loads(spec))
                except (TypeError, ValueError, RecursionError):
                    self.damaged.append(f"the study {name!r}")
            return found

    def _select(self, clause: str, values: tuple[Any, ...]) -> Iterator[CellResult]:
        sql = f"SELECT {', '.join(_COLUMNS)} FROM cells {clause}"
        with self._explained():
            cursor = self._connection.execute(sql, values)
        while True:
            with self._explained():
                rows = cursor.fetchmany(256)
            if not rows:
                return
            for row in rows:
                found = _from_sql(row)
                if found is not None:
                    yield found
                elif (name := _named(row)) not in self.damaged:
                    self.damaged.append(name)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """One thread at a time; SQLite's errors in one sentence."""
        with self._lock:
            try:
                yield
            except _BROKEN as error:
                raise InputError(_sentence(self.path, error)) from error


def opened(store: ResultStore | str | os.PathLike[str] | None) -> ResultStore | None:
    """The store itself, or the one at a path."""
    return store if store is None or isinstance(store, ResultStore) else ResultStore(store)


@contextmanager
def held(store: ResultStore | str | os.PathLike[str] | None) -> Iterator[ResultStore | None]:
    """The store itself, which stays open, or the one at a path, closed at the end."""
    found = opened(store)
    try:
        yield found
    finally:
        if found is not None and found is not store:
            found.close()


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(
        path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
    )
    try:
        _create(connection)
        connection.execute("PRAGMA journal_mode = WAL")
        # In write-ahead mode this survives a killed process; a power cut may lose the last cells.
        connection.execute("PRAGMA synchronous = NORMAL")
    except BaseException:
        connection.close()
        raise
    connection.isolation_level = "DEFERRED"
    return connection


def _create(connection: sqlite3.Connection) -> None:
    """Make the tables in an empty file, or bring those of version 1 up to date.

    Of two processes at once, the second finds it done.
    """
    if _version(connection) == SCHEMA_VERSION:
        return
    connection.execute("BEGIN IMMEDIATE")
    for statement in {0: _SCHEMA, 1: _STEP}.get(_version(connection), ()):
        connection.execute(statement)
    connection.execute("COMMIT")


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _refuse_foreign(path: Path) -> None:
    """Look at an existing file without ever writing to it."""
    try:
        with path.open("rb") as file:
            header = file.read(100)
    except FileNotFoundError:
        if not path.parent.is_dir():
            raise InputError(f"There is no folder {path.parent} to keep {path.name} in.") from None
        return
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from None
    except ValueError:
        raise InputError(f"{show(str(path))} cannot be the name of a file.") from None
    if not header:
        return  # made by another process an instant ago, or by tempfile
    _refuse_header(path, header)
    _check_whole(path)


def _refuse_header(path: Path, header: bytes) -> None:
    ours = APPLICATION_ID.to_bytes(4, "big")
    if not header.startswith(_MAGIC) or header[_APPLICATION_AT : _APPLICATION_AT + 4] != ours:
        raise InputError(f"{path} is not a file of study results; give another name.")


def _take_over(connection: sqlite3.Connection, content: bytes, path: Path) -> None:
    """Put a stranger's file into a connection, once nothing in it could compute anything."""
    # A file in write-ahead mode cannot be in memory: its header says so in two bytes.
    quiet = bytearray(content)
    quiet[_JOURNAL_AT : _JOURNAL_AT + 2] = b"\x01\x01"
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cell_size_check = ON")
    connection.deserialize(bytes(quiet))
    things = connection.execute("SELECT type, name, sql FROM sqlite_master").fetchall()
    made = {(kind, name) for kind, name, sql in things if sql is not None}
    hidden = [c for t in _TABLES for c in connection.execute(f"PRAGMA table_xinfo({t})") if c[-1]]
    if made != {("table", name) for name in _TABLES} or hidden:
        raise InputError(f"{path} holds more than study results; it was not opened.")
    _check_content(connection, path)
    _create(connection)


def _check_whole(path: Path) -> None:
    """Read a file through and leave no trace, not even the empty side files of SQLite."""
    side = Path(f"{path}-wal")
    busy = side.exists()  # someone has it open, or was killed while they had
    try:
        _read_through(path, "mode=ro" if busy else "immutable=1")
    except _BROKEN as error:
        if busy or not side.exists():
            raise InputError(_sentence(path, error)) from error
        _check_whole(path)  # another process opened it this instant


def _read_through(path: Path, how: str) -> None:
    with closing(sqlite3.connect(f"{path.resolve().as_uri()}?{how}", uri=True)) as reader:
        reader.execute(f"PRAGMA busy_timeout = {int(BUSY_SECONDS * 1000)}")
        _check_content(reader, path)


def _check_content(reader: sqlite3.Connection, path: Path) -> None:
    """Raise for a newer version, a damaged page, and columns that are not there."""
    version = _version(reader)
    if version > SCHEMA_VERSION:
        raise InputError(f"{path} was written by a newer version; update this program.")
    verdict = reader.execute("PRAGMA quick_check(1)").fetchone()[0]
    if verdict != "ok":
        raise sqlite3.DatabaseError(verdict)
    columns = [c for c in _COLUMNS if version > 1 or c not in _ADDED]
    reader.execute(f"SELECT {', '.join(columns)} FROM cells LIMIT 1").fetchone()
    reader.execute("SELECT name, spec FROM studies LIMIT 1").fetchone()


def _sentence(path: Path, error: Exception) -> str:
    text = str(error)
    if "locked" in text:
        return f"{path} has been locked by another program for {BUSY_SECONDS:.0f} s; try again."
    if "readonly" in text or "unable to open" in text:
        return f"{path} cannot be written to; give another name."
    if "full" in text or "disk I/O" in text:
        return f"{path} could not be written: {text}."
    return f"{path} is damaged and was left as it is; give another name."


def _to_sql(result: CellResult, column: str) -> Any:
    value = getattr(result, column)  # a NaN becomes NULL
    if value is None or column not in _JSON:
        return value
    return json.dumps(asdict(value) if isinstance(value, Scores) else value)


def _from_sql(row: tuple[Any, ...]) -> CellResult | None:
    """The row's result; None if something in it is not what was once written there."""
    values = dict(zip(_COLUMNS, row, strict=True))
    # Private rows keep no clock.
    values["seconds"] = math.nan if values["seconds"] is None else values["seconds"]
    try:
        values["ci_tests_by_order"] = tuple(json.loads(values["ci_tests_by_order"]))
        values["cpdag"] = _pairs(values["cpdag"])
        values["untested"] = _pairs(values["untested"], values["status"])
        values["metrics_tested"] = _scores(values)
        sound = isinstance(json.loads(values["params"]), dict)
    except (TypeError, ValueError, RecursionError):
        return None
    sound = sound and all(isinstance(count, int) for count in values["ci_tests_by_order"])
    named = (*values["cpdag"], *(values["untested"] or ()))
    sound = sound and all(isinstance(n, str) and writable(n) for pair in named for n in pair)
    sound = sound and all(isinstance(values[column], kinds) for column, kinds in _EXPECTED.items())
    return CellResult(**values) if sound else None


def _pairs(text: str | None, status: str = "") -> tuple[tuple[str, str], ...] | None:
    """Pairs of names; where none are kept, a complete run left none, and of others it is unknown.

    Raises TypeError or ValueError for what was never written.
    """
    if text is None and status:
        return () if status == "complete" else None
    return tuple((a, b) for a, b in json.loads(text or ""))


def _scores(values: Mapping[str, Any]) -> Scores | None:
    """Scores of the links tested to the end; those of the graph itself where a run was complete."""
    text = values["metrics_tested"]
    if text is not None:
        found = Scores(**json.loads(text))
        if not all(isinstance(value, _NUMBER) for value in vars(found).values()):
            raise TypeError(text)
        return found
    if values["status"] != "complete" or values["skeleton_f1"] is None:
        return None
    return Scores(**{name: values[name] for name in SCORED})


def _named(row: tuple[Any, ...]) -> str:
    """Which cell a row was of, as far as it says."""
    values = dict(zip(_COLUMNS, row, strict=True))
    algorithm, data, seed = (cut(str(values[name])) for name in ("algorithm", "dataset", "seed"))
    return f"{algorithm} on {data}, seed {seed}"


def _as_fields(result: CellResult) -> dict[str, Any]:
    return {c: getattr(result, c) for c in _COLUMNS}
