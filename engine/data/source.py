"""Where a table comes from: a path, bytes or an open file; as text, or as a stream of UTF-8."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import os
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

from engine.errors import DataError, InputError, show

Source = str | os.PathLike[str] | bytes | IO[str] | IO[bytes]

MAX_BYTES = 200_000_000  # of what is handed over in memory; a file on disk is streamed
SEPARATORS = (",", ";", "\t", "|")
ENCODINGS = ("utf-8", "utf-16", "latin-1")
_GZIP = b"\x1f\x8b"


@dataclass(frozen=True)
class Stream:
    """Text that can be read more than once: a file on disk, or bytes in memory.

    ``label`` is the file's name where it has one; ``encoding`` is what a person said.
    """

    label: str
    content: Path | bytes
    encoding: str = "utf-8"

    def open(self) -> IO[bytes]:
        """The text's bytes as UTF-8, from its beginning, a byte order mark and gzip taken off."""
        # A path is opened by who closes it: GzipFile leaves a file that it is given open.
        file: IO[bytes]
        if isinstance(self.content, Path):
            with self.content.open("rb") as first:
                zipped = first.read(2) == _GZIP
            file = self.content.open("rb") if not zipped else _unpacked(filename=self.content)
        else:
            file = io.BytesIO(self.content)
            if self.content.startswith(_GZIP):
                file = _unpacked(fileobj=file)
        start = file.read(3)
        file.seek(0)
        if self.encoding == "utf-8":
            file.seek(len(codecs.BOM_UTF8) if start == codecs.BOM_UTF8 else 0)
            return file
        reader = codecs.EncodedFile(file, "utf-8", self.encoding)
        return cast(IO[bytes], reader)


def _unpacked(**source: Any) -> IO[bytes]:
    return cast(IO[bytes], gzip.GzipFile(mode="rb", **source))


def stream(source: Source, encoding: str = "utf-8") -> Stream:
    """A source of text. InputError for another kind of source or an unknown encoding."""
    known = {"utf8": "utf-8", "utf16": "utf-16", "latin1": "latin-1"}
    chosen = known.get(encoding.lower(), encoding.lower())
    if chosen not in ENCODINGS:
        raise InputError(f"encoding must be one of {', '.join(ENCODINGS)}.")
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        return Stream(path.name, _readable(path), chosen)
    raw, label = _read_raw(source)
    if len(raw) > MAX_BYTES:
        limit = f"{MAX_BYTES // 1_000_000} MB"
        raise DataError(f"{label} is larger than {limit}; give the path of a file instead.")
    if isinstance(raw, str):
        return Stream(label, raw.encode("utf-8", "surrogatepass"))
    return Stream(label, raw, chosen)


def read_text(source: Source) -> tuple[str, str]:
    """Return a short source's whole text and a label for it, the file's name where it has one."""
    found = stream(source)
    with found.open() as file:
        raw = file.read(MAX_BYTES + 1)
    if len(raw) > MAX_BYTES:
        raise DataError(f"{found.label} is larger than {MAX_BYTES // 1_000_000} MB.")
    text = decoded(raw, found)
    if not text.strip():
        raise DataError(f"{found.label} is empty; give a file with a header line and rows.")
    return text, found.label


def decoded(raw: bytes, found: Stream, *, whole: bool = True) -> str:
    """Bytes of a stream as text; ``whole=False`` forgives a character cut at their end."""
    try:
        text = codecs.getincrementaldecoder("utf-8")().decode(raw, final=whole)
    except UnicodeDecodeError:
        raise DataError(not_utf8(found)) from None
    if "\0" in text:
        raise DataError(f"{found.label} is not a text file; save the table as CSV in UTF-8.")
    return text.removeprefix("\ufeff")


def not_utf8(found: Stream) -> str:
    """What to say of a file whose bytes are not text in the encoding that was said."""
    if found.encoding != "utf-8":
        return f"{found.label} is not {found.encoding.upper()} text; say its encoding."
    return (
        f"{found.label} is not UTF-8 text; save it as CSV in UTF-8, or say its encoding "
        "(utf-16 or latin-1)."
    )


def _readable(path: Path) -> Path:
    try:
        with path.open("rb") as file:
            file.read(1)
    except FileNotFoundError:
        raise DataError(f"There is no file {show(str(path))}; check its path.") from None
    except (OSError, ValueError):
        raise DataError(f"{show(str(path))} cannot be read as a file; check it.") from None
    return path


def _read_raw(source: bytes | IO[str] | IO[bytes]) -> tuple[str | bytes, str]:
    if isinstance(source, bytes | bytearray):
        return bytes(source), "data"
    if not hasattr(source, "read"):
        raise InputError("The source must be a path, bytes, or an open file.")
    label = getattr(source, "name", None)
    return source.read(), Path(label).name if isinstance(label, str) and label else "data"


def separator(text: str) -> str:
    """Return the separator that cuts the first line into the most fields."""
    first = text.lstrip().splitlines()[0]
    return max(SEPARATORS, key=lambda s: len(next(csv.reader([first], delimiter=s), [])))
