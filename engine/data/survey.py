"""What a file holds, to propose a schema from: exact facts of private rows, for their owner alone.

Nothing of a survey may be handed out or taken for declared. A person looks at it and states, from
what they know of the world and not of these rows, what the schema is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
import pyarrow as pa

from engine.data import delimited
from engine.data.levels import MAX_LEVELS, RawColumn, natural_key
from engine.data.numerals import Numbers, as_numbers, number_style
from engine.data.source import Source, stream
from engine.data.tally import MISSING, Batches, tally

ROWS = 50_000  # from the start of the file: enough to propose, and few enough to list
FEW = 10  # numbers with at most so many values are levels
_LEAST_UNIQUE = 20  # rows from which all-different values look like an identifier


@dataclass(frozen=True)
class Found:
    """One column as found: how many values it has, which, and what it looks like.

    ``kind`` is "identifier" (all different), "ordered" (few numbers), "unordered" (few words),
    "numeric", or "text" (too many words for levels). ``levels`` are at most 64, in order;
    ``low`` and ``high`` are of numbers.
    """

    name: str
    kind: str
    distinct: int
    missing: int
    levels: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None


def survey(source: Source, encoding: str = "utf-8") -> tuple[Found, ...]:
    """Every column with a name, from the first 50,000 rows; DataError for a file that is none."""

    def read(batches: Batches) -> tuple[Found, ...]:
        few = replace(batches, arrays=_first(batches.arrays.__iter__()))
        columns = tally(few, Numbers(), 10 * ROWS)
        return tuple(_look(column) for column in columns if column.name)

    return delimited.delimited(stream(source, encoding), read)


def _first(arrays: Iterator[list[pa.Array]]) -> Iterator[list[pa.Array]]:
    seen = 0
    for batch in arrays:
        yield [array.slice(0, ROWS - seen) for array in batch]
        seen += len(batch[0])
        if seen >= ROWS:
            return


def _look(column: RawColumn) -> Found:
    words = [word for word in column.values if word not in MISSING]
    counts = np.bincount(column.index, minlength=len(column.values))
    known = np.array([word not in MISSING for word in column.values], dtype=bool)
    rows, missing = int(counts.sum()), int(counts[~known].sum()) if len(known) else 0
    numbers = _numbers(words, column.name)
    found = Found(column.name, "text", len(words), missing)
    whole = numbers is not None and bool((numbers == np.round(numbers)).all())
    if len(words) == rows - missing >= _LEAST_UNIQUE and (numbers is None or whole):
        return replace(found, kind="identifier")
    if numbers is None:
        levels = tuple(sorted(islice(words, MAX_LEVELS + 1), key=natural_key))
        few = 1 < len(words) <= MAX_LEVELS
        return replace(found, kind="unordered", levels=levels) if few else found
    if 1 < len(words) <= FEW:
        order = np.argsort(numbers, kind="stable")
        return replace(found, kind="ordered", levels=tuple(words[i] for i in order))
    if len(numbers) and numbers.min() < numbers.max():
        low, high = float(numbers.min()), float(numbers.max())
        return replace(found, kind="numeric", low=low, high=high)
    return found


def _numbers(words: list[str], name: str) -> np.ndarray | None:
    style = number_style(words, Numbers(), name)
    return None if style is None or not words else as_numbers(words, style)
