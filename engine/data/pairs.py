"""Pairs of columns from files: a person's own, and the Tuebingen pairs.

The Tuebingen cause-effect pairs (Mooij et al. 2016) are not part of this program: the terms under
which others may pass them on are not stated (docs/explanation/pairs.md).
:func:`read_tuebingen` reads a copy that you name.
"""

from __future__ import annotations

import csv
import io
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING

import numpy as np

from engine.data.dataset import MAX_FOLDED, Dataset
from engine.data.numerals import Numbers
from engine.data.schema import Column, Schema
from engine.data.simulated_pairs import LEVELS, known_pair
from engine.data.source import Source
from engine.errors import DataError, show

if TYPE_CHECKING:
    from engine.data.tally import Batches

# A person's own two columns -------------------------------------------------------------------


def read_pair(
    source: Source, bounds: tuple[tuple[float, float], tuple[float, float]] | None = None
) -> Dataset:
    """Read a CSV file of two numeric columns with a header line, and their stated bounds.

    ``bounds`` are public facts, (lowest, highest) of each column; values outside are cut off. They
    are the schema: without them the bounds are read from the data, the notes say so, and no run on
    the pair is defended. Raises DataError in one sentence for another number of columns, a cell
    without a number, fewer than 10 rows, or (without bounds) a constant column.
    """
    from engine.data.doors import through_door  # here: it loads pyarrow

    return through_door(source, None, None, "utf-8", lambda table: _pair(table, bounds))


def _pair(table: Batches, bounds: tuple[tuple[float, float], ...] | None) -> Dataset:
    names, label = [name for name in table.names if name], table.label
    if len(names) != 2:
        raise DataError(f"{label} has {len(names)} columns; give exactly two, cause and effect.")
    schema = None if bounds is None else _schema(names, bounds)
    values = _values(table, names, schema)
    note = "Bounds are stated; values outside them are cut off."
    if bounds is None:
        for name, column in zip(names, values.T, strict=True):
            if np.ptp(column) == 0:
                raise DataError(
                    f"Column {show(name)} of {label} is constant; nothing depends on it."
                )
        bounds = tuple((float(c.min()), float(c.max())) for c in values.T)
        note = (
            "No bounds were stated, so they were read from the data without noise and nothing is "
            "defended; state them for a guarantee."
        )
    stem = Path(label.removesuffix(".gz")).stem
    found = Dataset.from_values(values, bounds, names, bins=LEVELS, name=stem, notes=(note,))
    return replace(found, schema=schema)


def _schema(names: Sequence[str], bounds: tuple[tuple[float, float], ...]) -> Schema:
    """What stated bounds declare of the two columns."""
    return Schema(
        tuple(
            Column(name=name, type="numeric", bounds=(float(low), float(high)), bins=LEVELS)
            for name, (low, high) in zip(names, bounds, strict=True)
        )
    )


def _values(table: Batches, names: Sequence[str], schema: Schema | None) -> np.ndarray:
    """The rows' numbers (n, 2), each cell read by itself; within the bounds where there are any."""
    from engine.data.tally import coded

    numbers = Numbers()
    coders = (
        [lambda words: _finite(words, numbers)] * 2
        if schema is None
        else [partial(column.values, numbers=numbers) for column in schema.columns]
    )
    places = [table.names.index(name) for name in names]
    values = np.column_stack(coded(table, places, coders, MAX_FOLDED))
    if len(values) < 10:
        count = len(values)
        raise DataError(
            f"{table.label} has {count} row{'' if count == 1 else 's'} of data; give at least 10."
        )
    if np.isnan(values).any():
        i, j = np.argwhere(np.isnan(values))[0]
        raise DataError(
            f"Row {i + 2} of {table.label}, column {show(names[j])}, holds what is not a finite "
            "number; correct or delete the row."
        )
    return values


def _finite(words: list[str], numbers: Numbers) -> np.ndarray:
    pattern = numbers.pattern()
    values = np.array([numbers.value(w) if pattern.fullmatch(w) else np.nan for w in words])
    return np.where(np.isfinite(values), values, np.nan)


# The Tuebingen pairs --------------------------------------------------------------------------

WHEEL_PAIRS, WHEEL_TARGETS = (
    f"cdt/data/resources/Tuebingen_{part}.csv" for part in ("pairs", "targets")
)
WHERE = "get it with: pip download --no-deps cdt==0.6.0"


def read_tuebingen(source: str | Path | IO[bytes]) -> tuple[Dataset, ...]:
    """The pairs with a known direction in a copy of the cdt 0.6.0 wheel (or its unpacked folder).

    Each is public data named "tuebingen:pair1" with columns A and B; its bounds are the data's own
    lowest and highest values, taken as public like the rest of a benchmark. The file has the cause
    first in every pair; here every second pair is turned round, so that a method that favours the
    first column gains nothing by it. Raises DataError where the file is not that wheel.
    """
    try:
        found = _wheel_pairs(*_wheel_texts(source))
    except DataError:
        raise
    except _NO_WHEEL:  # another zip, or this one damaged
        what = show(str(source)) if isinstance(source, str | Path) else "The file"
        raise DataError(
            f"{what} is not the cdt 0.6.0 wheel nor an unpacked folder of it; {WHERE}."
        ) from None
    if not found:
        raise DataError(f"The file holds no cause-effect pairs; {WHERE}.")
    return tuple(found)


# What reading a damaged zip, and tables of another shape, may raise.
_NO_WHEEL = (
    *(OSError, EOFError, LookupError, ValueError, TypeError, AttributeError, RuntimeError),
    *(zipfile.BadZipFile, zlib.error, csv.Error),
)


def _wheel_pairs(pairs: str, targets: str) -> list[Dataset]:
    import pandas as pd  # here, so that importing the engine does not load pandas

    known = {row["SampleID"]: float(row["Target"]) for row in csv.DictReader(io.StringIO(targets))}
    found: list[Dataset] = []
    # One cell of this table holds a whole column of a pair; Python's reader refuses such cells.
    for row in pd.read_csv(io.StringIO(pairs), dtype=str).to_dict("records"):
        sign = known.get(row["SampleID"], 0.0)
        columns = [np.array(row[side].split(), dtype=float) for side in ("A", "B")]
        if sign == 0 or len(columns[0]) != len(columns[1]):
            continue
        if len(found) % 2:
            columns, sign = columns[::-1], -sign
        found.append(
            known_pair(
                np.column_stack(columns),
                [(float(c.min()), float(c.max())) for c in columns],
                ["A", "B"],
                ("A", "B") if sign > 0 else ("B", "A"),
                name=f"tuebingen:{row['SampleID']}",
                note="Tuebingen cause-effect pairs (Mooij et al. 2016), as in the cdt 0.6.0 wheel; "
                "bounds are the data's own range.",
            )
        )
    return found


def _wheel_texts(source: str | Path | IO[bytes]) -> tuple[str, str]:
    names = (WHEEL_PAIRS, WHEEL_TARGETS)
    if isinstance(source, str | Path) and Path(source).is_dir():
        pairs, targets = ((Path(source) / name).read_text("utf-8") for name in names)
    else:
        with zipfile.ZipFile(source) as wheel:
            pairs, targets = (wheel.read(name).decode() for name in names)
    return pairs, targets
