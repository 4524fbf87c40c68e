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
from dataclasses import replace
from pathlib import Path
from typing import IO

import numpy as np

from engine.data.column import Column
from engine.data.dataset import Dataset
from engine.data.intake import Source, read_numbers
from engine.data.schema import Schema
from engine.data.simulated_pairs import LEVELS, known_pair
from engine.errors import DataError, show

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
    values, names, label = read_numbers(source)
    if len(names) != 2:
        raise DataError(f"{label} has {len(names)} columns; give exactly two, cause and effect.")
    if len(values) < 10:
        rows = f"{len(values)} row{'' if len(values) == 1 else 's'}"
        raise DataError(f"{label} has {rows} of data; give at least 10.")
    # Without bounds nothing cuts an endless number off.
    wrong = np.isnan(values) if bounds is not None else ~np.isfinite(values)
    if wrong.any():
        i, j = np.argwhere(wrong)[0]
        raise DataError(
            f"Row {i + 1:,} below the header of {label}, column {show(names[j])}, holds what is no "
            "finite number; correct or delete the row."
        )
    schema, note = None, "Bounds are stated; values outside them are cut off."
    if bounds is None:
        for name, column in zip(names, values.T, strict=True):
            if np.ptp(column) == 0:
                raise DataError(
                    f"Column {show(name)} of {label} is constant; nothing depends on it."
                )
        (a, b) = values.T
        bounds = (float(a.min()), float(a.max())), (float(b.min()), float(b.max()))
        note = (
            "No bounds were stated, so they were read from the data without noise and no guarantee "
            "is given; state them."
        )
    else:
        schema = Schema(
            tuple(
                Column(name=name, type="numeric", bounds=(float(low), float(high)), bins=LEVELS)
                for name, (low, high) in zip(names, bounds, strict=True)
            )
        )
        values = np.clip(values, *np.array(bounds, float).T)
    stem = Path(label.removesuffix(".gz")).stem
    found = Dataset.from_values(values, bounds, names, bins=LEVELS, name=stem, notes=(note,))
    return replace(found, schema=schema)


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
