"""Pairs of columns from files: a person's own, and the Tuebingen pairs.

The Tuebingen cause-effect pairs (Mooij et al. 2016) are not part of this program: the terms under
which others may pass them on are not stated (docs/pairs.md). :func:`read_tuebingen` reads a copy
that you name.
"""

from __future__ import annotations

import csv
import io
import zipfile
from pathlib import Path
from typing import IO

import numpy as np

from engine.data.dataset import Dataset
from engine.data.simulated_pairs import LEVELS, known_pair
from engine.data.source import Source, read_text, separator
from engine.errors import DataError, show

# A person's own two columns -------------------------------------------------------------------


def read_pair(
    source: Source, bounds: tuple[tuple[float, float], tuple[float, float]] | None = None
) -> Dataset:
    """Read a CSV file of two numeric columns with a header line, and their stated bounds.

    ``bounds`` are public facts, (lowest, highest) of each column; values outside are cut off. Where
    they are not given they are read from the data, and the notes say so. Raises DataError in one
    sentence for another number of columns, a cell that is no finite number, a constant column, or
    fewer than 10 rows: what its owner is told before any release.
    """
    text, label = read_text(source)
    rows = [row for row in csv.reader(io.StringIO(text), delimiter=separator(text)) if any(row)]
    header = [cell.strip() for cell in rows[0]]
    if len(header) != 2:
        raise DataError(f"{label} has {len(header)} columns; give exactly two, cause and effect.")
    if any(len(row) != 2 for row in rows):
        line = next(i for i, row in enumerate(rows) if len(row) != 2) + 1
        raise DataError(f"Row {line} of {label} does not have two cells; correct it.")
    if len(rows) - 1 < 10:
        count = len(rows) - 1
        found = f"{count} row{'' if count == 1 else 's'}"
        raise DataError(f"{label} has {found} of data; give at least 10.")
    values = np.empty((len(rows) - 1, 2))
    for i, row in enumerate(rows[1:]):
        for j, cell in enumerate(row):
            values[i, j] = _number(cell, header[j], i + 2, label)
    for j in (0, 1):
        if np.ptp(values[:, j]) == 0:
            raise DataError(
                f"Column {show(header[j])} of {label} is constant; nothing depends on it."
            )
    note, stated = "Bounds are stated; values outside them are cut off.", bounds is not None
    if bounds is None:
        bounds = tuple((float(c.min()), float(c.max())) for c in values.T)  # type: ignore[assignment]
        note = (
            "No bounds were stated, so they were read from the data without noise; a vote does not "
            "use them, any other release needs stated ones for a strict guarantee."
        )
    assert bounds is not None
    return Dataset.from_values(
        values,
        bounds,
        header,
        bins=LEVELS,
        name=Path(label).stem,
        declared=stated,
        notes=(note,),
    )


def _number(cell: str, column: str, line: int, label: str) -> float:
    try:
        value = float(cell)
    except ValueError:
        value = np.nan
    if not np.isfinite(value):
        raise DataError(
            f"Row {line} of {label}, column {show(column)}: {show(cell.strip())} is not a finite "
            "number; correct or delete the row."
        )
    return value


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
    import pandas as pd  # here, so that importing the engine does not load pandas

    pairs, targets = _wheel_texts(source)
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
    if not found:
        raise DataError(f"The file holds no cause-effect pairs; {WHERE}.")
    return tuple(found)


def _wheel_texts(source: str | Path | IO[bytes]) -> tuple[str, str]:
    names = (WHEEL_PAIRS, WHEEL_TARGETS)
    try:
        if isinstance(source, str | Path) and Path(source).is_dir():
            pairs, targets = ((Path(source) / name).read_text("utf-8") for name in names)
        else:
            with zipfile.ZipFile(source) as wheel:
                pairs, targets = (wheel.read(name).decode() for name in names)
    except (OSError, KeyError, zipfile.BadZipFile):
        what = show(str(source)) if isinstance(source, str | Path) else "The file"
        raise DataError(
            f"{what} is not the cdt 0.6.0 wheel nor an unpacked folder of it; {WHERE}."
        ) from None
    return pairs, targets
