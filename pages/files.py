"""A person's files read as tables, in a process where they are large; nothing of Streamlit's."""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from engine import Dataset
from engine.data.schema import Schema, load_schema

if TYPE_CHECKING:  # without an own file nobody waits for these imports
    from engine.data.column import Dialect
    from engine.data.draft import Found

LARGE = 5_000_000  # bytes: fewer take .3 s at most, less than a process takes to begin
Bounds = tuple[tuple[float, float], tuple[float, float]]


@dataclass(frozen=True)
class Upload:
    """A file as it was uploaded: its name and its bytes."""

    name: str
    raw: bytes = field(repr=False)

    def open(self) -> io.BytesIO:
        """The file, with its name for what is said of it."""
        found = io.BytesIO(self.raw)
        found.name = self.name
        return found


@dataclass(frozen=True)
class Reading:
    """How a table is read: by a schema, or its file, or as its draft says."""

    file: Upload
    truth: Upload | None = None
    schema: Schema | Upload | None = None
    name: str = "data"

    @property
    def large(self) -> bool:
        """Whether it is read in a separate process."""
        parts = (self.file, self.truth, self.schema)
        return large(*(part for part in parts if isinstance(part, Upload)))


def large(*files: Upload) -> bool:
    """Whether reading them takes longer than beginning a process; so may what is packed."""
    packed = any(file.raw.startswith((b"\x1f\x8b", b"PK", b"PAR1")) for file in files)
    return packed or sum(len(file.raw) for file in files) > LARGE


def table(asked: Reading) -> tuple[Dataset, Schema | None]:
    """The table, and the schema that it was read by; InputError in one sentence."""
    from engine.data.reading import read

    schema = asked.schema
    if isinstance(schema, Upload):
        schema = load_schema(schema.raw)
    truth = None if asked.truth is None else asked.truth.raw
    return read(asked.file.open(), schema, truth=truth, name=asked.name), schema


def columns(file: Upload) -> tuple[tuple[Found, ...], Dialect]:
    """What its columns look like, and how its text is written."""
    from engine.data.draft import survey

    return survey(file.open())


def pair(file: Upload, bounds: Bounds | None) -> Dataset:
    """Two columns of numbers."""
    from engine.data.pairs import read_pair

    return read_pair(file.open(), bounds)


def tuebingen(file: Upload) -> tuple[Dataset, ...]:
    """The pairs of a person's copy."""
    from engine.data.pairs import read_tuebingen

    return read_tuebingen(file.open())
