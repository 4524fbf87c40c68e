"""Answers on public data that outlive a session and its server, one file per key in one folder.

Runs and studies on public data are deterministic. Their answers are in the cache of the server's
user, in a folder that only this user reads, because they are unpickled. A key holds a digest of the
code that answers, so another version finds no earlier answer. The folder is bounded: the least
recently used answer is deleted first. A damaged file counts as no answer, not as an error.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import zlib
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from platformdirs import user_cache_path

import engine
from engine.data.networks import SAMPLE_DATA

VARIABLE = "DP_CAUSAL_EXPLORER_ANSWERS"  # another folder; "" stores nothing
MOST, LARGEST = 200_000_000, 20_000_000  # bytes of all answers, and of one


def place() -> Path | None:
    """Return the folder; None if nothing is stored."""
    named = os.environ.get(VARIABLE)
    if named is None:
        return user_cache_path("dp-causal-explorer", appauthor=False) / "answers"
    return Path(named) if named else None


@cache
def code() -> str:
    """Return a digest of the code, networks and libraries that determine an answer."""
    folders = (Path(engine.__file__).parent, "**/*.py"), (Path(__file__).parents[1], "**/work*.py")
    files = [path for folder, names in folders for path in folder.glob(names)]
    digest = hashlib.sha256()
    for path in sorted([*files, *(SAMPLE_DATA / "networks").glob("*.json")]):
        digest.update(path.read_bytes())
    digest.update(repr([version(name) for name in ("numpy", "scipy", "numba", "pandas")]).encode())
    return digest.hexdigest()


def has(key: object) -> bool:
    """Return whether there is an answer."""
    file = _file(key)
    return file is not None and file.exists()


def get(key: object) -> Any:
    """Return the answer of the key; None if there is none."""
    file = _file(key)
    if file is None or not file.exists():
        return None
    try:
        answer = pickle.loads(zlib.decompress(file.read_bytes()))
        os.utime(file)
    except Exception:  # a damaged pickle may raise anything
        file.unlink(missing_ok=True)
        return None
    return answer


def packed(answer: Any) -> bytes:
    """Return an answer in its stored form; b"" if nothing is stored."""
    return pickle.dumps(answer) if place() is not None else b""


def put(key: object, content: bytes) -> None:
    """Store a packed answer; the least recently used ones are deleted to make room."""
    file, content = _file(key), zlib.compress(content, 1) if content else b""
    if file is None or not 0 < len(content) <= LARGEST:
        return
    with suppress(OSError):  # no room, or another process has deleted files
        with NamedTemporaryFile(dir=file.parent, suffix=_ENDING, delete=False) as part:
            part.write(content)
        os.replace(part.name, file)  # so that no process reads half of it
        held = 0
        answers = [(one.stat(), one) for one in file.parent.glob(f"*{_ENDING}")]
        for facts, one in sorted(answers, key=lambda each: each[0].st_mtime_ns, reverse=True):
            if (held := held + facts.st_size) > MOST:
                one.unlink()


_ENDING = ".answer"


def _file(key: object) -> Path | None:
    """Return a key's file; None if the folder cannot be used, or if others can read it."""
    folder = place()
    if folder is None:
        return None
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        facts = folder.stat()
    except OSError:
        return None
    if hasattr(os, "getuid") and (facts.st_uid != os.getuid() or facts.st_mode & 0o077):
        return None
    return folder / f"{hashlib.sha256(repr((code(), key)).encode()).hexdigest()}{_ENDING}"
