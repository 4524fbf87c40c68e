"""A sheet of a workbook, read by a process of its own whose memory is bounded.

A workbook of a few kilobytes may name a cell a million rows and 16,384 columns away, or unpack to
gigabytes, and its reader cannot be told where to stop. What the child sends is one line of JSON
(the sheets' names, which one is read, or what is wrong) and the rows as Arrow's stream of text.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

import pyarrow as pa

import engine
from engine.data.tally import number_text
from engine.errors import DataError, InputError, show

MEMORY = 4 << 30  # bytes of address space that a workbook may take to read
_BATCH = 1 << 14
_CHILD = "from engine.data.workbook import main; main()"


@dataclass(frozen=True)
class Sheet:
    """A sheet on its way in: all sheets' names, its own, and its rows as columns of text."""

    names: list[str]
    name: str
    batches: Iterator[list[pa.Array]]


@contextmanager
def opened(path: Path, sheet: str | None) -> Iterator[Sheet]:
    """The sheet, the first unless one is named; DataError or InputError in one sentence."""
    root = str(Path(engine.__file__).resolve().parents[1])
    known = [root, *filter(None, [os.environ.get("PYTHONPATH")])]
    child = subprocess.Popen(
        [
            sys.executable,
            "-c",
            _CHILD,
            str(path.resolve()),
            *([sheet] if sheet is not None else []),
        ],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(known)},
    )
    try:
        assert child.stdout is not None
        yield _received(child, path, sheet)
    finally:
        child.kill()
        child.communicate()


def _received(child: subprocess.Popen[bytes], path: Path, sheet: str | None) -> Sheet:
    assert child.stdout is not None
    line = child.stdout.readline()
    if not line.endswith(b"\n"):
        raise _too_large(path)
    said = json.loads(line)
    if "names" not in said:
        raise DataError(f"{path.name} cannot be read as a workbook; save it as CSV.")
    if sheet is not None and "sheet" not in said:
        listed = ", ".join(said["names"][:5])
        raise InputError(f"{path.name} has no sheet {show(sheet)}; it has {listed}.")
    return Sheet(said["names"], said["sheet"], _batches(child, path))


def _batches(child: subprocess.Popen[bytes], path: Path) -> Iterator[list[pa.Array]]:
    try:
        with pa.ipc.open_stream(child.stdout) as stream:
            for batch in stream:
                yield batch.columns
    except (pa.ArrowInvalid, OSError):
        raise _too_large(path) from None
    if child.wait() != 0:
        raise _too_large(path)


def _too_large(path: Path) -> DataError:
    return DataError(
        f"{path.name} takes more than {MEMORY >> 30} GB to read as a workbook; save it as CSV."
    )


# In the child -------------------------------------------------------------------------


def main() -> None:
    """Read the sheet that the command names, and write it to standard output."""
    _bounded()
    path, *named = sys.argv[1:]
    out = sys.stdout.buffer
    try:
        found = in_process(path, named[0] if named else None)
    except MemoryError:
        raise
    except BaseException:  # the reader panics on some files, which is no Exception
        _say(out, {})
        return
    if found.name not in found.names:
        _say(out, {"names": found.names})
        return
    _say(out, {"names": found.names, "sheet": found.name})
    first = next(found.batches, [])
    fields = pa.schema([(f"c{i}", pa.string()) for i in range(len(first))])
    with pa.ipc.new_stream(out, fields) as stream:
        for columns in chain([first], found.batches):
            stream.write_batch(pa.record_batch(columns, schema=fields))
    out.flush()


def in_process(path: str, named: str | None) -> Sheet:
    """The sheet, read by this process; without rows if it has none of that name."""
    from python_calamine import CalamineWorkbook

    book = CalamineWorkbook.from_path(path)
    names = book.sheet_names
    chosen = names[0] if named is None else named
    rows: Iterator[Sequence[Any]] = iter(())
    if chosen in names:
        rows = iter(book.get_sheet_by_name(chosen).iter_rows())
    return Sheet(names, chosen, text_batches(rows, _BATCH, text))


def _bounded() -> None:
    """Take no more than MEMORY, where the system can say so."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _say(out: Any, what: dict[str, Any]) -> None:
    out.write(json.dumps(what).encode() + b"\n")
    out.flush()


def text(cell: Any, strip: bool = True) -> str:
    """A cell as a person would type it."""
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, float):
        return number_text(cell)
    return str(cell).strip() if strip else str(cell)


def text_batches(
    rows: Iterator[Sequence[Any]], size: int, write: Callable[[Any], str]
) -> Iterator[list[pa.Array]]:
    """Rows of cells as columns of text, so many rows at a time; None is a null."""
    while batch := list(islice(rows, size)):
        yield [
            pa.array([None if c is None else write(c) for c in cells], pa.string())
            for cells in zip(*batch, strict=True)
        ]
