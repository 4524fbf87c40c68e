"""Store results of trials in one SQLite file, shared by studies and safe against crashes.

The file has one table, keyed by the digest of the trial. Every batch is committed on arrival, in
write-ahead mode. A killed process loses at most its current batch, and several processes may write
to one file. A foreign or damaged file is refused and not changed.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import fields, replace
from functools import cache
from pathlib import Path
from threading import RLock
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

from engine.errors import InputError, cut, show, writable
from engine.registry import ALGORITHMS
from engine.serialise import current
from engine.studies.trial import Trial, TrialResult

APPLICATION_ID = int.from_bytes(b"DPCX", "big")
SCHEMA_VERSION = 5
BUSY_SECONDS = 30.0
MOST_RUNS = 50_000  # in an imported file

_JOURNAL_AT = 18  # offset in SQLite's header of two journal versions: 2 is write-ahead, 1 is not
_SAYS = ("application_id", "user_version", "quick_check(1)")
_TABLE = "CREATE TABLE trials (key TEXT PRIMARY KEY, row TEXT NOT NULL) WITHOUT ROWID"


class ResultStore(AbstractContextManager["ResultStore"]):
    """One file of results. Use it as a context manager, or call :meth:`close`.

    Raises InputError for an unusable path, a foreign or damaged file, and a file written by another
    version of this program.
    """

    def __init__(self, path: str | os.PathLike[str]):
        self.path = Path(path)
        self._lock = RLock()
        with self._explained():
            self._connection = _connect(self.path)

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection; all stored results are on disk."""
        self._connection.close()

    def put(self, results: Iterable[TrialResult]) -> None:
        """Store results in one transaction; the first result of a trial is kept."""
        rows = [(r.key, json.dumps(_fields(r), default=_fields)) for r in results]
        with self._explained(), self._connection:
            self._connection.executemany("INSERT OR IGNORE INTO trials VALUES (?, ?)", rows)

    def get(self, trial: Trial) -> TrialResult | None:
        """Return the stored result of a trial, with this trial's dataset name and parameters.

        Raises InputError if its row is damaged, and leaves the row unchanged.
        """
        keys = trial.key, trial.earlier_key
        found = self._rows("SELECT key, row FROM trials WHERE key IN (?, ?)", *keys)
        named = {name: getattr(trial, name) for name in ("dataset", "params")}
        return replace(self._read(found[0]), **named) if found else None

    def results(self) -> Iterator[TrialResult]:
        """Return every stored result in a fixed order; raises InputError for a damaged row."""
        yield from map(self._read, self._rows("SELECT key, row FROM trials ORDER BY key"))

    def __len__(self) -> int:
        return int(self._rows("SELECT count(*) FROM trials")[0][0])

    def _rows(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        with self._explained():
            return self._connection.execute(sql, values).fetchall()

    def _read(self, row: tuple[Any, ...]) -> TrialResult:
        try:
            found: TrialResult = _typed(current(json.loads(row[1])), TrialResult)
            if row[0] in (found.earlier_key, found.key):
                return found
        except (TypeError, ValueError, KeyError, RecursionError):
            pass
        raise InputError(
            f"{self.path} has a damaged row ({cut(str(row[0]))}), which was left as it is; give "
            "another name."
        )

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Allow one thread at a time, and turn SQLite's errors into one message."""
        with self._lock:
            try:
                yield
            # SQLite's message about a damaged file may contain bytes that are not text.
            except InputError:
                raise
            except (sqlite3.Error, ValueError) as error:
                raise InputError(f"{self.path} {_reason(str(error))}") from error


def opened_store(
    store: ResultStore | str | os.PathLike[str] | None,
) -> AbstractContextManager[ResultStore | None]:
    """Yield the given store, which stays open, or the store at a path, closed at the end."""
    if store is None or isinstance(store, ResultStore):
        return nullcontext(store)
    return ResultStore(store)


def study_file(results: Iterable[TrialResult]) -> bytes:
    """Return a file with these runs, in SQLite's format."""
    with ResultStore(":memory:") as store:
        store.put(results)
        return store._connection.serialize()


def read_study(content: bytes, name: str) -> tuple[TrialResult, ...]:
    """Read the runs of an imported file in memory, without executing any of it.

    Args:
        content: The file.
        name: Its name, for messages.

    Raises:
        InputError: For a foreign or damaged file, one with more than our table, with more than
            ``MOST_RUNS`` runs, with runs on private data, or with settings that this version lacks.
    """
    with ResultStore(":memory:") as store:
        store.path = Path(name)
        with store._explained():
            # A file in write-ahead mode cannot be opened in memory, so two header bytes are
            # changed.
            quiet = bytearray(content)
            quiet[_JOURNAL_AT : _JOURNAL_AT + 2] = b"\x01\x01"
            store._connection.deserialize(bytes(quiet))
            _check(store._connection, store.path)
        if len(store) > MOST_RUNS:
            raise InputError(f"{name} holds more than {MOST_RUNS:,} runs; it was not opened.")
        results = tuple(store.results())
    if any(result.own for result in results):
        raise InputError(f"{name} holds runs on private data; it was not opened.")
    for key, params in {(result.algorithm, result.params) for result in results}:
        if key not in ALGORITHMS:
            raise InputError(f"{name} holds runs of {show(key)}, which this version does not have.")
        try:
            ALGORITHMS[key].params.build(json.loads(params))
        except InputError as error:
            raise InputError(f"{name} has a setting that does not fit: {error}") from error
    return results


def _connect(path: Path) -> sqlite3.Connection:
    # otherwise it is a new file, or there is none
    if path.parent.is_dir() and path.is_file() and path.stat().st_size:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as there:
            _check(there, path)  # checked before any write
    connection = sqlite3.connect(
        path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
    )
    version = "PRAGMA user_version"
    if not connection.execute(version).fetchone()[0]:
        connection.execute("BEGIN IMMEDIATE")  # a second process finds the work done
        if not connection.execute(version).fetchone()[0]:
            connection.execute(_TABLE)
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        connection.execute("COMMIT")
    try:
        connection.execute("PRAGMA journal_mode = WAL")
    except sqlite3.OperationalError as error:
        if "locked" not in str(error):  # locked by a process that does the same at this moment
            raise
    # In write-ahead mode, commits survive a killed process; a power cut may lose the last runs.
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.isolation_level = "DEFERRED"
    return connection


def _check(connection: sqlite3.Connection, path: Path) -> None:
    """Raise for a foreign file, a damaged page, and other objects, which could execute code."""
    for pragma in ("trusted_schema = OFF", "cell_size_check = ON"):
        connection.execute(f"PRAGMA {pragma}")
    said = (connection.execute(f"PRAGMA {name}").fetchone()[0] for name in _SAYS)
    if next(said) != APPLICATION_ID:
        raise sqlite3.DatabaseError("not a database of ours")
    if next(said) != SCHEMA_VERSION:
        raise InputError(f"{path} was written by another version of this program; give a new name.")
    if (verdict := next(said)) != "ok":
        raise sqlite3.DatabaseError(verdict)
    made = connection.execute("SELECT type, name, sql FROM sqlite_master").fetchall()
    if made != [("table", "trials", _TABLE)]:
        raise InputError(f"{path} holds more than study results; it was not opened.")


def _reason(error: str) -> str:
    """Explain SQLite's error in our words."""
    if "locked" in error:
        return f"has been locked by another program for {BUSY_SECONDS:.0f} s; try again."
    if "not a database" in error:
        return "is not a file of study results; give another name."
    if "readonly" in error or "unable to open" in error or "null" in error:
        return "cannot be opened and written to; give another name."
    if "full" in error or "disk I/O" in error:
        return f"could not be written: {error}."
    return "is damaged and was left as it is; give another name."


def _fields(value: Any) -> dict[str, Any]:
    """Turn a dataclass into a dict for JSON; ``asdict`` would copy every name of a graph."""
    return {one.name: getattr(value, one.name) for one in fields(value)}


_types = cache(get_type_hints)


def _typed(value: Any, kind: Any) -> Any:
    """Convert a row's value to its type; raises TypeError, ValueError or KeyError if invalid."""
    parts = get_args(kind)
    if hasattr(kind, "__dataclass_fields__"):
        return kind(**{name: _typed(value[name], one) for name, one in _types(kind).items()})
    if get_origin(kind) is UnionType:
        return None if value is None else _typed(value, parts[0])
    if get_origin(kind) is tuple:
        if not isinstance(value, list) or (len(value) != len(parts) and parts[-1] is not Ellipsis):
            raise TypeError(value)
        return tuple(_typed(one, parts[0]) for one in value)
    whole = type(value) is int and kind in (int, float) and abs(value) < 2**63
    other = type(value) is kind and kind is not int and (kind is float or writable(value))
    if not (whole or other):
        raise TypeError(value)
    return value
