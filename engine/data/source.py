"""Where a table comes from: a path, bytes or an open file; as text, or as a stream of UTF-8."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import os
import re
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, cast

from engine.errors import DataError, InputError, show

Source = str | os.PathLike[str] | bytes | IO[str] | IO[bytes]

MAX_BYTES = 200_000_000  # of what is handed over in memory; a file on disk is streamed
SEPARATORS = (",", ";", "\t", "|")
ENCODINGS = ("utf-8", "utf-16", "latin-1")
LONGEST_CELL = 1 << 24  # characters; a quote that is never closed makes such a cell
GZIP = b"\x1f\x8b"
_CHUNK = 1 << 18

csv.field_size_limit(LONGEST_CELL)  # Python's own refuses cells that a person may well have


@dataclass(frozen=True)
class Stream:
    """Text that can be read more than once: a file on disk, or bytes in memory.

    ``label`` is the file's name where it has one; ``encoding`` is what a person said.
    """

    label: str
    content: Path | bytes = field(repr=False)
    encoding: str = "utf-8"

    def open(self) -> IO[bytes]:
        """The text's bytes as UTF-8, from its beginning, a byte order mark and gzip taken off."""
        # A path is opened by who closes it: GzipFile leaves a file that it is given open.
        file: IO[bytes]
        if isinstance(self.content, Path):
            with self.content.open("rb") as first:
                zipped = first.read(2) == GZIP
            file = self.content.open("rb") if not zipped else _unpacked(filename=self.content)
        else:
            file = io.BytesIO(self.content)
            if self.content.startswith(GZIP):
                file = _unpacked(fileobj=file)
        start = file.read(3)
        file.seek(0)
        encoding = self.encoding
        if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            encoding = "utf-16"  # no UTF-8 text begins so
        if encoding == "utf-8":
            file.seek(len(codecs.BOM_UTF8) if start == codecs.BOM_UTF8 else 0)
            return file
        reader = codecs.EncodedFile(file, "utf-8", encoding)
        return cast(IO[bytes], reader)


def _unpacked(**source: Any) -> IO[bytes]:
    return cast(IO[bytes], gzip.GzipFile(mode="rb", **source))


class _Lines(io.RawIOBase):
    """Bytes whose lines end as the first one does, in ``\\n`` or ``\\r\\n`` or ``\\r`` alone.

    The first line is the header's or a comment's, which no record changes. A ``\\r`` (or ``\\n``)
    that is no end of a line counts as a blank within its cell. What is read ends lines in ``\\n``.
    """

    def __init__(self, file: IO[bytes], last: bytes):
        self._file, self._last = file, last
        self._held = self._ready = file.read(_CHUNK)
        self._mac = _ends_in_return(self._held)
        self._ready, self._at = b"", 0

    def readable(self) -> bool:
        """Always."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Some bytes; none only at the end."""
        while self._at >= len(self._ready) and self._held:
            self._ready, self._at = self._next(), 0
        part = self._ready[self._at : self._at + len(buffer)]
        buffer[: len(part)] = part
        self._at += len(part)
        return len(part)

    def _next(self) -> bytes:
        """The bytes held, but for what may be half of an end of line."""
        found, self._held = self._held, self._file.read(_CHUNK)
        if self._mac:
            found = found.translate(bytes.maketrans(b"\r\n", b"\n "))
        else:
            if self._held and found.endswith(b"\r"):
                found, self._held = found[:-1], b"\r" + self._held
            if found.count(b"\r") > found.count(b"\r\n"):
                found = re.sub(rb"\r(?!\n)", b" ", found)
        return found if self._held else found + self._last

    def close(self) -> None:
        """Close the file as well."""
        self._file.close()
        super().close()


def _ends_in_return(chunk: bytes) -> bool:
    """Whether the first line ends in ``\r`` alone, and others follow.

    Of a header what is between its quotation marks is passed over, as its reader sees them: one
    within a cell, or in a comment, is a character like others, and seeks no other half below.
    """
    lines = io.StringIO(chunk.decode("utf-8", "replace"), newline="").readlines()
    taken, first = 1, lines[0].strip() if lines else ""
    if first and not first.startswith("#"):
        reader = csv.reader(lines, delimiter=separator(first), skipinitialspace=True)
        with suppress(csv.Error):
            next(reader, None)
            taken = reader.line_num if reader.line_num < len(lines) else 1
    return taken < len(lines) and lines[taken - 1].endswith("\r")


def one_line_end(found: Stream, last: str = "") -> IO[bytes]:
    """The text's bytes as UTF-8, its lines ended alike; with a line ``last`` below the others."""
    below = f"\n{last}\n".encode() if last else b""
    return cast(IO[bytes], io.BufferedReader(_Lines(found.open(), below), _CHUNK))


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
    if "\0" in text:
        raise DataError(f"{found.label} is not a text file; save the table as CSV in UTF-8.")
    if not text.strip():
        raise DataError(f"{found.label} is empty; give a file with a header line and rows.")
    return text, found.label


def decoded(raw: bytes, found: Stream, *, whole: bool = True) -> str:
    """Bytes of a stream as text; ``whole=False`` forgives a character cut at their end."""
    try:
        text = codecs.getincrementaldecoder("utf-8")().decode(raw, final=whole)
    except UnicodeDecodeError:
        raise DataError(not_utf8(found)) from None
    return text.removeprefix("\ufeff")


def not_utf8(found: Stream) -> str:
    """What to say of a file whose bytes are not text in the encoding that was said."""
    if found.encoding != "utf-8":
        return f"{found.label} is not {found.encoding.upper()} text; say its encoding."
    return (
        f"{found.label} is not UTF-8 text; save it as CSV in UTF-8, or say its encoding "
        "(utf-16 or latin-1) in Python or on the command line."
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
