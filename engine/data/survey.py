"""What a file holds, to propose a schema from: exact facts of private rows, for their owner alone.

Nothing of a survey may be handed out or taken for declared. A person looks at it and states, from
what they know of the world and not of these rows, what the schema is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa

from engine.data import doors
from engine.data.column import LEVEL
from engine.data.levels import MAX_LEVELS, MISSING_LEVEL, RawColumn, natural_key, repeated
from engine.data.numerals import Numbers, as_numbers, number_style
from engine.data.tally import MISSING, Batches, tally
from engine.errors import DataError, InputError, show

ROWS = 50_000  # from the start of the file: enough to propose, and few enough to list
FEW = 10  # numbers with at most so many values are levels
PARTS = 5  # levels that more of them are proposed to be cut into
_LEAST_UNIQUE = 20  # rows from which all-different values look like an identifier


@dataclass(frozen=True)
class Found:
    """One column as found: how many values it has, which, and what it looks like.

    ``kind`` is "identifier" (all different), "ordered" (few numbers), "unordered" (few words),
    "numeric", or "text" (too many words for levels). ``levels`` are at most 64, in order;
    ``low`` and ``high`` are of numbers, ``cuts`` points that part them into levels of about as many
    rows each.
    """

    name: str
    kind: str
    distinct: int
    missing: int
    levels: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    cuts: tuple[float, ...] = ()

    def proposed(self) -> dict[str, Any] | None:
        """What a schema's column would say of it, not stated; None where it can be no levels."""
        if self.kind == "numeric":
            other = LEVEL if self.missing else None
            return {"name": self.name, "type": "numeric", "cuts": self.cuts, "other": other}
        if self.kind not in ("ordered", "unordered"):
            return None
        levels, other = self.levels, None
        if self.missing:
            other = next(w for w in (MISSING_LEVEL, "no answer", "gap") if w not in levels)
            levels = (*levels, other)
        if len(levels) > MAX_LEVELS:
            return None
        return {"name": self.name, "type": self.kind, "levels": levels, "other": other}


def survey(
    source: Any, encoding: str = "utf-8", *, query: str | None = None, sheet: str | None = None
) -> tuple[Found, ...]:
    """Every column with a name, from the first 50,000 rows of any table that the reader knows.

    DataError for a file that is none.
    """

    def read(batches: Batches) -> tuple[Found, ...]:
        named = [name for name in batches.names if name]
        if len(set(named)) < len(named):
            twice = show(repeated(named))
            raise DataError(
                f"Two columns of {batches.label} are called {twice}; rename or delete one."
            )
        few = replace(batches.filled(), arrays=_first(iter(batches.filled().arrays)))
        style, ordered = (
            batches.guessed(Numbers()),
            (batches.arranged or {}) | (batches.ordered or {}),
        )
        columns = tally(few, style, 10 * ROWS)
        return tuple(_look(c, style, ordered.get(c.name, ())) for c in columns if c.name)

    if source is None:
        raise InputError("There is no table to look at: give a frame or the path of a file.")
    return doors.through_door(source, query, sheet, encoding, read)


def _first(arrays: Iterator[list[pa.Array]]) -> Iterator[list[pa.Array]]:
    seen = 0
    for batch in arrays:
        yield [array.slice(0, ROWS - seen) for array in batch]
        seen += len(batch[0])
        if seen >= ROWS:
            return


def _look(column: RawColumn, style: Numbers, ordered: Sequence[str]) -> Found:
    words = [word for word in column.values if word not in MISSING]
    if column.numbers:
        return _many(column)
    counts = np.bincount(column.index, minlength=len(column.values))
    known = np.array([word not in MISSING for word in column.values], dtype=bool)
    rows, missing = int(counts.sum()), int(counts[~known].sum()) if len(known) else 0
    found = Found(column.name, "text", len(words), missing)
    if 2 <= len(ordered) <= MAX_LEVELS:  # categories that the table itself puts in an order
        return replace(found, kind="ordered", levels=tuple(ordered))
    numbers = _numbers(words, column.name, style)
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
    return _spread(found, numbers, np.repeat(numbers, counts[known]))


def _many(column: RawColumn) -> Found:
    """A column of too many numbers to list."""
    values = column.index[np.isfinite(column.index)]
    missing = len(column.index) - len(values)
    return _spread(Found(column.name, "text", len(values), missing), values, values)


def _spread(found: Found, numbers: np.ndarray, rows: np.ndarray) -> Found:
    """Numbers with their ends, and cut points that are round and part the rows about evenly."""
    if not len(numbers) or not numbers.min() < numbers.max():
        return found
    low, high = float(numbers.min()), float(numbers.max())
    points = np.quantile(rows, np.arange(1, PARTS) / PARTS)
    cuts = sorted({float(f"{point:.3g}") for point in points})
    inner = tuple(cut for cut in cuts if low < cut <= high) or (float(np.median(numbers)),)
    return replace(found, kind="numeric", low=low, high=high, cuts=inner)


def _numbers(words: list[str], name: str, style: Numbers) -> np.ndarray | None:
    found = number_style(words, style, name)
    return None if found is None or not words else as_numbers(words, found)
