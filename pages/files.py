"""A person's files read as tables, in a process where they are large; nothing of Streamlit's."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from engine import Dataset, read_csv
from engine.data.codebook import read_codebook
from engine.data.pairs import read_pair, read_tuebingen
from engine.data.schema import Schema
from engine.data.source import GZIP
from engine.data.survey import Found, survey

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
    """How a table is read: by a schema or a codebook, or else by ``options`` of `read_csv`."""

    file: Upload
    truth: Upload | None = None
    schema: Schema | Upload | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def large(self) -> bool:
        """Whether it is read in a process of its own."""
        parts = (self.file, self.truth, self.schema)
        return large(*(part for part in parts if isinstance(part, Upload)))


def large(*files: Upload) -> bool:
    """Whether reading them takes longer than beginning a process; so may what is packed."""
    packed = any(file.raw.startswith(GZIP) for file in files)
    return packed or sum(len(file.raw) for file in files) > LARGE


def table(asked: Reading) -> tuple[Dataset, Schema | None]:
    """The table, and the schema that it was read by; InputError in one sentence."""
    if asked.schema is None:
        truth = None if asked.truth is None else asked.truth.open()
        return read_csv(asked.file.open(), truth=truth, **asked.options), None
    schema = (
        asked.schema if isinstance(asked.schema, Schema) else read_codebook(asked.schema.open())
    )
    known = None if asked.truth is None else asked.truth.raw
    return read_csv(asked.file.raw, truth=known, schema=schema, **asked.options), schema


def columns(file: Upload) -> tuple[Found, ...]:
    """What its columns look like."""
    return survey(file.raw)


def pair(file: Upload, bounds: Bounds | None) -> Dataset:
    """Two columns of numbers."""
    return read_pair(file.open(), bounds)


def tuebingen(file: Upload) -> tuple[Dataset, ...]:
    """The pairs of a person's copy."""
    return read_tuebingen(file.open())
