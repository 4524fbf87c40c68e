"""Answers on public data that outlive a session and its server, by key, in one file.

Runs and studies on public data are deterministic. What they gave is kept in the cache of the
server's user, in a folder that nobody else reads: it is unpickled. A key holds a digest of the code
that answers, so another version finds nothing of before. The file is bounded; what was asked for
least recently goes first. A file that is damaged or locked is no answer, and never an error.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import sqlite3
import time
import zlib
from collections.abc import Callable
from contextlib import closing
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from platformdirs import user_cache_path

import engine
from engine.data.networks import SAMPLE_DATA

VARIABLE = "DP_CAUSAL_EXPLORER_ANSWERS"  # another file; "" keeps nothing
MOST, LARGEST = 200_000_000, 20_000_000  # bytes of all answers, and of one
WAIT = 1.0  # seconds for another process that writes
_TABLE = (
    "CREATE TABLE IF NOT EXISTS answers"
    " (key TEXT PRIMARY KEY, used REAL NOT NULL, content BLOB NOT NULL)"
)
_MAKE_ROOM = """DELETE FROM answers WHERE key IN (SELECT key FROM
    (SELECT key, sum(length(content)) OVER (ORDER BY used DESC, key) AS held FROM answers)
    WHERE held > ?)"""


def place() -> Path | None:
    """Return the file; None where nothing is kept."""
    named = os.environ.get(VARIABLE)
    if named is None:
        return user_cache_path("dp-causal-explorer", appauthor=False) / "private" / "answers.db"
    return Path(named) if named else None


@cache
def code() -> str:
    """Return a digest of code, networks and libraries: of whatever answers, apart from the key."""
    folders = (Path(engine.__file__).parent, "**/*.py"), (Path(__file__).parents[1], "**/work*.py")
    files = [path for folder, names in folders for path in folder.glob(names)]
    digest = hashlib.sha256()
    for path in sorted([*files, *(SAMPLE_DATA / "networks").glob("*.json")]):
        digest.update(path.read_bytes())
    digest.update(repr([version(name) for name in ("numpy", "scipy", "numba", "pandas")]).encode())
    return digest.hexdigest()


def has(key: object) -> bool:
    """Return whether there is an answer."""
    asked = "SELECT 1 FROM answers WHERE key = ?", [_name(key)]
    return bool(_ask(lambda file: file.execute(*asked).fetchone()))


def get(key: object) -> Any:
    """Return what was put under the key; None where nothing is."""
    name = [_name(key)]

    def read(file: sqlite3.Connection) -> Any:
        found = file.execute("SELECT content FROM answers WHERE key = ?", name).fetchone()
        if found is None:
            return None
        try:
            answer = pickle.loads(zlib.decompress(found[0]))
        except Exception:  # a damaged pickle may raise anything
            file.execute("DELETE FROM answers WHERE key = ?", name)
            return None
        file.execute("UPDATE answers SET used = ? WHERE key = ?", [time.time(), *name])
        return answer

    return _ask(read)


def packed(answer: Any) -> bytes:
    """Return an answer as it is kept; b"" where nothing is kept."""
    return pickle.dumps(answer) if place() is not None else b""


def put(key: object, content: bytes) -> None:
    """Keep a packed answer; those that were used least recently make room for it."""
    row: list[Any] = [_name(key), time.time(), zlib.compress(content, 1)]

    def write(file: sqlite3.Connection) -> None:
        file.execute("REPLACE INTO answers VALUES (?, ?, ?)", row)
        file.execute(_MAKE_ROOM, [MOST])

    if content and len(row[-1]) <= LARGEST:
        _ask(write)


def _name(key: object) -> str:
    return hashlib.sha256(repr((code(), key)).encode()).hexdigest()


def _ask(do: Callable[[sqlite3.Connection], Any]) -> Any:
    """Do it in one transaction; None where the file cannot be used."""
    path = place()
    try:
        if path is None or not _private(path.parent):
            return None
        with closing(sqlite3.connect(path, timeout=WAIT)) as file:
            for line in ("PRAGMA journal_mode = WAL", "PRAGMA synchronous = NORMAL", _TABLE):
                file.execute(line)
            with file:
                return do(file)
    except sqlite3.OperationalError:  # locked, or no room
        return None
    except sqlite3.DatabaseError:  # damaged, or no file of ours: it begins again
        assert path is not None
        for end in ("", "-wal", "-shm"):
            Path(f"{path}{end}").unlink(missing_ok=True)
        return None
    except OSError:
        return None


def _private(folder: Path) -> bool:
    """Return whether the folder is there, and its owner's alone."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    state = folder.stat()
    if not hasattr(os, "getuid"):
        return True
    return state.st_uid == os.getuid() and not state.st_mode & 0o077
