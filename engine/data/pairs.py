"""Pairs of columns: simulated ones with a known cause, the user's, and the Tuebingen pairs.

A simulated pair is an additive-noise model: a cause on [-1, 1], a mechanism, independent noise. The
bounds come from the model, so they are public and depend on no row.

The Tuebingen cause-effect pairs (Mooij et al. 2016) are not part of this program: their source
gives no terms for redistribution (research/theory/pairs.md). :func:`read_tuebingen` reads a copy
that the user provides.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from engine.data.dataset import Dataset
from engine.data.intake import read_numbers
from engine.data.simulated import stream
from engine.data.sources import Source
from engine.errors import DataError, InputError, did_you_mean, show
from engine.monitor import QUIET, Monitor

Values = NDArray[np.float64]

NOISE_SHARE = 0.4  # standard deviation of the noise divided by that of the mechanism on [-1, 1]
SPREAD = 6.0  # declared bounds of the effect, in standard deviations of the noise beyond it
LEVELS = 5

MECHANISMS: dict[str, Callable[[Values], Values]] = {
    "cubic": lambda x: x**3 + 0.3 * x,
    "sine": lambda x: np.sin(4 * x),
    "tanh": lambda x: np.tanh(4 * x),
    "exponential": lambda x: np.exp(2 * x) / 4,
    "square": lambda x: (x + 0.5) ** 2,
    "bump": lambda x: np.exp(-8 * (x - 0.2) ** 2) + 0.5 * x,
}
# For measurements only: no setting of the method was chosen on these.
HELD_OUT: dict[str, Callable[[Values], Values]] = {
    "log": lambda x: np.log(x + 1.2),
    "wave": lambda x: np.sin(6 * x) + x,
    "step": lambda x: np.tanh(8 * (x - 0.3)) + np.tanh(8 * (x + 0.4)),
    "quartic": lambda x: (x - 0.2) ** 4,
}
NOISES: dict[str, Callable[[np.random.Generator, int], Values]] = {
    "uniform": lambda rng, n: rng.uniform(-(3**0.5), 3**0.5, n),
    "gaussian": lambda rng, n: rng.standard_normal(n),
    "laplace": lambda rng, n: rng.laplace(0.0, 0.5**0.5, n),
}
CAUSES: dict[str, Callable[[np.random.Generator, int], Values]] = {
    "uniform": lambda rng, n: rng.uniform(-1.0, 1.0, n),
    "normal": lambda rng, n: np.clip(rng.normal(0.0, 0.4, n), -1.0, 1.0),
    "skewed": lambda rng, n: 2 * rng.beta(2.0, 5.0, n) - 1,
}


def simulate_pair(
    mechanism: str, noise: str = "gaussian", cause: str = "uniform", n: int = 1_000, seed: int = 0
) -> Dataset:
    """Draw n rows of a pair; a fair coin decides which of the two columns is the cause.

    The data is public, with its true graph and declared bounds; the seed determines everything.
    Raises InputError for an unknown mechanism, noise or cause.
    """
    curves = {**MECHANISMS, **HELD_OUT}
    asked: Any = ((mechanism, curves), (noise, NOISES), (cause, CAUSES))
    for value, known in asked:
        if value not in known:
            hint = did_you_mean(value, known)
            raise InputError(
                f"A simulated pair, such as pair:cubic:uniform, has one of {', '.join(known)}; "
                f"{show(value)} is not one.{hint}"
            )
    rng = stream("pair", seed)
    curve = curves[mechanism](np.linspace(-1.0, 1.0, 401))
    sd = NOISE_SHARE * float(curve.std())
    x = CAUSES[cause](rng, n)
    y = curves[mechanism](x) + sd * NOISES[noise](rng, n)
    bounds = [(-1.0, 1.0), (float(curve.min()) - SPREAD * sd, float(curve.max()) + SPREAD * sd)]
    name = ":".join(["pair", mechanism, noise, *([cause] if cause != "uniform" else [])])
    note = (
        f"The rows were simulated: {cause} cause, {mechanism} mechanism, {noise} noise, "
        f"seed {seed}; bounds are the model's."
    )
    return _known([x, y], bounds, rng.random() < 0.5, name, note)


def _known(
    columns: list[Values], bounds: list[tuple[float, float]], turned: bool, name: str, note: str
) -> Dataset:
    """Return public data A and B of a cause and its effect, in reverse order if ``turned``."""
    truth = nx.DiGraph([("B", "A") if turned else ("A", "B")])
    if turned:
        columns, bounds = columns[::-1], bounds[::-1]
    facts: dict[str, Any] = {"name": name, "truth": truth, "public": True, "notes": (note,)}
    return Dataset.from_values(np.column_stack(columns), bounds, ["A", "B"], bins=LEVELS, **facts)


# A person's own two columns -------------------------------------------------------------------


def read_pair(
    source: Source,
    bounds: tuple[tuple[float, float], tuple[float, float]] | None = None,
    monitor: Monitor = QUIET,
) -> Dataset:
    """Read a CSV file of two numeric columns with a header line, and their declared bounds.

    ``bounds`` are public facts, (lowest, highest) for each column; values outside are clipped. They
    are the schema. Without them the bounds are read from the data, the notes say so, and no run on
    the pair has a guarantee. Raises DataError, in one sentence, if the number of columns is not
    two, a cell is not a number, there are fewer than 10 rows, or (without bounds) a column is
    constant.
    """
    values, names, label = read_numbers(source, monitor)
    if len(names) != 2:
        raise DataError(f"{label} has {len(names)} columns; give exactly two, cause and effect.")
    if len(values) < 10:
        raise DataError(f"{label} has fewer than 10 rows of data; give at least 10.")
    # Without bounds an infinite number would not be clipped.
    wrong = np.isnan(values) if bounds is not None else ~np.isfinite(values)
    if wrong.any():
        i, j = np.argwhere(wrong)[0]
        raise DataError(
            f"Row {i + 1:,} below the header of {label}, column {show(names[j])}, holds no finite "
            "number. Correct or delete the row."
        )
    note = "Bounds are declared. Values outside them are clipped."
    stated: Any = bounds
    if bounds is None:
        if not np.ptp(values, axis=0).all():
            raise DataError(f"A column of {label} is constant; nothing depends on it.")
        stated = list(zip(values.min(axis=0), values.max(axis=0), strict=True))
        note = (
            "No bounds were declared, so they were read from the data without noise. There is no "
            "guarantee. Declare them."
        )
    values = np.clip(values, *np.array(stated, float).T)
    stem = Path(label.removesuffix(".gz")).stem
    found = Dataset.from_values(values, stated, names, bins=LEVELS, name=stem, notes=(note,))
    return replace(found, schema=None) if bounds is None else found


# The Tuebingen pairs --------------------------------------------------------------------------

WHEEL_PAIRS, WHEEL_TARGETS = (
    f"cdt/data/resources/Tuebingen_{part}.csv" for part in ("pairs", "targets")
)
_TUEBINGEN = (
    "Tuebingen cause-effect pairs (Mooij et al. 2016), as in the cdt 0.6.0 wheel; bounds are the "
    "data's own range."
)
WHERE = "get it with: pip download --no-deps cdt==0.6.0"


def read_tuebingen(source: str | Path | IO[bytes]) -> tuple[Dataset, ...]:
    """Read the pairs with a known direction from a copy of the cdt 0.6.0 wheel.

    Each is public data named "tuebingen:pair1" with columns A and B. Its bounds are the lowest and
    highest values of the data, treated as public like the rest of a benchmark. In the file the
    cause always comes first. Here every second pair is reversed, so that a method that favours the
    first column has no advantage. Raises DataError if the file is not that wheel.
    """
    import pandas as pd  # imported here, so that importing the engine does not load pandas

    found: list[Dataset] = []
    try:
        with zipfile.ZipFile(source) as files:
            pairs, targets = (
                pd.read_csv(io.BytesIO(files.read(name)), dtype={"Target": float})
                for name in (WHEEL_PAIRS, WHEEL_TARGETS)
            )
        known = targets[targets["Target"] != 0]
        for row in pairs.merge(known, on="SampleID").to_dict("records"):
            columns = [np.array(str(row[side]).split(), dtype=float) for side in ("A", "B")]
            if len(columns[0]) != len(columns[1]):
                continue
            if row["Target"] < 0:
                columns = columns[::-1]
            bounds = [(float(c.min()), float(c.max())) for c in columns]
            name = f"tuebingen:{row['SampleID']}"
            found.append(_known(columns, bounds, len(found) % 2 > 0, name, _TUEBINGEN))
    except Exception:  # reading another zip file, or a damaged one, may raise any error
        what = show(str(source)) if isinstance(source, str | Path) else "The file"
        raise DataError(f"{what} is not the cdt 0.6.0 wheel; {WHERE}.") from None
    if not found:
        raise DataError(f"The file holds no cause-effect pairs; {WHERE}.")
    return tuple(found)
