"""Where text comes from: a path, bytes or an open file, read whole and decoded once."""

from __future__ import annotations

import csv
import os
from pathlib import Path
from typing import IO

from engine.data.levels import show
from engine.errors import DataError, InputError

Source = str | os.PathLike[str] | bytes | IO[str] | IO[bytes]


MAX_BYTES = 200_000_000


SEPARATORS = (",", ";", "\t")


def read_text(source: Source) -> tuple[str, str]:
    """Return the source's text and a label for it, the file's name where it has one."""
    raw, label = _read_raw(source)
    if len(raw) > MAX_BYTES:
        limit = f"{MAX_BYTES // 1_000_000} MB"
        raise DataError(f"{label} is larger than {limit}; give fewer rows or columns.")
    try:
        text = raw if isinstance(raw, str) else bytes(raw).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DataError(f"{label} is not UTF-8 text; save it as CSV in UTF-8.") from None
    if "\0" in text:
        raise DataError(f"{label} is not a text file; save the table as CSV in UTF-8.")
    text = text.removeprefix("\ufeff")
    if not text.strip():
        raise DataError(f"{label} is empty; give a file with a header line and rows.")
    return text, label


def _read_raw(source: Source) -> tuple[str | bytes, str]:
    if isinstance(source, bytes | bytearray):
        return bytes(source), "data"
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        try:
            # Read one byte past the limit at most: enough to know that it is exceeded.
            with path.open("rb") as file:
                return file.read(MAX_BYTES + 1), path.name
        except FileNotFoundError:
            raise DataError(f"There is no file {show(str(path))}; check its path.") from None
        except (OSError, ValueError):
            raise DataError(f"{show(str(path))} cannot be read as a file; check it.") from None
    if not hasattr(source, "read"):
        raise InputError("The source must be a path, bytes, or an open file.")
    label = getattr(source, "name", None)
    return source.read(), Path(label).name if isinstance(label, str) and label else "data"


def separator(text: str) -> str:
    """Return the separator that cuts the first line into the most fields."""
    first = text.lstrip().splitlines()[0]
    return max(SEPARATORS, key=lambda s: len(next(csv.reader([first], delimiter=s), [])))
