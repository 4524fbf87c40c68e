"""A person's files read as tables, beside the server where they are large; nothing of Streamlit's.

Their bytes go through a pipe to a process that ends with the reading, and touch no disk.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from engine import Dataset, InputError, read_csv
from engine.data.codebook import read_codebook
from engine.data.pairs import read_pair, read_tuebingen
from engine.data.schema import Schema
from engine.data.source import GZIP
from engine.data.survey import Found, survey
from pages.host import apart, bounds
from pages.host.apart import Lost, Stopped

LARGE = 5_000_000  # bytes: fewer take .3 s at most, less than a process takes to begin
SHARE = 4  # of the memory there is, one part for a reading
LEAST = 64_000_000  # bytes for a reading: with less, Arrow waits for threads that never begin
TOO_MUCH = "The file needs more memory than one may take here; give fewer rows or columns."
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

    def __reduce__(self) -> tuple[Any, ...]:
        """The bytes go as they lie in memory; they arrive as bytes."""
        return Upload, (self.name, pickle.PickleBuffer(self.raw))


@dataclass(frozen=True)
class Reading:
    """How a table is read: by a schema or a codebook, or else by ``options`` of `read_csv`."""

    file: Upload
    truth: Upload | None = None
    schema: Schema | Upload | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def large(self) -> bool:
        """Whether it is read beside the server."""
        parts = (self.file, self.truth, self.schema)
        return large(*(part for part in parts if isinstance(part, Upload)))


def large(*files: Upload) -> bool:
    """Whether reading them takes longer than beginning a process; so may what is packed."""
    packed = any(file.raw.startswith(GZIP) for file in files)
    return packed or sum(len(file.raw) for file in files) > LARGE


def beside(function: Callable[..., Any], *args: Any, stopped: Stopped, long: bool = True) -> Any:
    """``function(*args, cancelled=…)`` in a process that ends with it; a stop ends it at once.

    It may take a share of the memory: what is packed may be a thousand times what was uploaded.
    """
    asked = function, *args
    if apart.begun():
        asked = _bounded, max(LEAST, bounds.memory() // SHARE), *asked
    try:
        return apart.call(*asked, stopped=stopped, long=long, once=True, patience=0.0)
    except MemoryError:  # of the reading, or of sending what was read
        raise InputError(TOO_MUCH) from None
    except Lost as lost:
        if lost.aborted:  # here and there Arrow ends its process where there is no memory
            raise InputError(TOO_MUCH) from None
        raise


def _bounded(most: int, function: Callable[..., Any], *args: Any, cancelled: Stopped) -> Any:
    """In the process: so many bytes more than it has, and none afterwards."""
    with suppress(ImportError, ValueError, OSError):  # where the system can say so
        import resource

        limit = bounds.writable() + most
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    return function(*args, cancelled=cancelled)


def table(asked: Reading, *, cancelled: Stopped = lambda: False) -> tuple[Dataset, Schema | None]:
    """The table, and the schema that it was read by; InputError in one sentence."""
    if asked.schema is None:
        truth = None if asked.truth is None else asked.truth.open()
        return read_csv(asked.file.open(), truth=truth, **asked.options), None
    schema = (
        asked.schema if isinstance(asked.schema, Schema) else read_codebook(asked.schema.open())
    )
    known = None if asked.truth is None else asked.truth.raw
    return read_csv(asked.file.raw, truth=known, schema=schema, **asked.options), schema


def columns(file: Upload, *, cancelled: Stopped = lambda: False) -> tuple[Found, ...]:
    """What its columns look like."""
    return survey(file.raw)


def pair(file: Upload, bounds: Bounds | None, *, cancelled: Stopped = lambda: False) -> Dataset:
    """Two columns of numbers."""
    return read_pair(file.open(), bounds)


def tuebingen(file: Upload, *, cancelled: Stopped = lambda: False) -> tuple[Dataset, ...]:
    """The pairs of a person's copy."""
    return read_tuebingen(file.open())
