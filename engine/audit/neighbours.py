"""Neighbouring datasets that are difficult for an algorithm: one critical record is replaced.

There are documented extremes and random ones of several kinds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.data.dataset import Dataset
from engine.errors import InputError

Codes = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Neighbours:
    """Two datasets with one schema that differ only in row ``row``; ``words`` describe how."""

    name: str
    words: str
    data: Dataset
    other: Dataset
    row: int


def neighbours(
    name: str,
    codes: Codes,
    row: int,
    record: Sequence[int],
    levels: Sequence[int],
    words: str = "",
) -> Neighbours:
    """Make a dataset of these codes (n, d), and the neighbour whose ``row`` is ``record``."""
    names = tuple("xyzuvwabcdefgh"[j] if j < 14 else f"c{j}" for j in range(len(levels)))
    labels = [tuple(map(str, range(size))) for size in levels]
    return from_dataset(Dataset.from_codes(codes, names, labels, name=name), row, record, words)


def from_dataset(data: Dataset, row: int, record: Sequence[int], words: str = "") -> Neighbours:
    """Make a dataset's neighbour, with another person in ``row`` (from 0)."""
    if not 0 <= row < data.n:
        raise InputError(f"There is no row {row}: the rows are 0 to {data.n - 1}.")
    if len(record) != data.d or any(
        not 0 <= v < size for v, size in zip(record, data.cardinalities, strict=False)
    ):
        raise InputError("The new record needs the code of a level for every column.")
    codes = np.array(data.row_codes())
    codes[row] = record
    other = Dataset.from_codes(
        codes, data.names, data.levels, name=data.name, truth=data.truth, public=data.public
    )
    return Neighbours(data.name, words, data, other, row)


# Documented extremes ------------------------------------------------------------------


def strata(small: int = 40, large: int = 49_960) -> Neighbours:
    """Make a pair in which one record decides if the large stratum counts (privacy_proofs.md).

    The columns are x, y, z. For z = 0, x and y agree. For z = 1, x is constant, and a published
    test skips the stratum until one record of the small stratum joins it with the other value of x.
    """
    half, rare = small // 2, large // 5
    parts = [(0, 0, 0, half), (1, 1, 0, small - half), (0, 0, 1, large - rare), (0, 1, 1, rare)]
    codes = np.concatenate([np.tile(p[:3], (p[3], 1)) for p in parts])
    return neighbours(
        "strata",
        codes,
        small - 1,
        (1, 0, 1),
        (2, 2, 2),
        f"Strata of {small:,} and {large:,} rows; one record of the small one joins the large one",
    )


def all_alike(n: int = 40, columns: int = 8, changed: int = 5) -> Neighbours:
    """Make a table of identical rows except for one person, who differs in several columns."""
    record = [1] * changed + [0] * (columns - changed)
    return neighbours(
        "all alike" if columns > 2 else f"{n} alike",
        np.zeros((n, columns), int),
        0,
        record,
        [2] * columns,
        f"{n} equal records; one of them changes {changed} of {columns} columns",
    )


def one_cell(n: int = 2_000) -> Neighbours:
    """Make two binary columns and one off-diagonal record, which moves tau furthest."""
    codes = np.zeros((n, 3), int)
    codes[0] = (1, 0, 0)
    codes[n // 2 :, 2] = 1
    return neighbours(
        "one cell", codes, 0, (1, 1, 0), (2, 2, 2), f"{n:,} records, one with another value of x"
    )


def turned_vote(n: int = 25) -> Neighbours:
    """Make two columns on a step; one record that leaves it changes a block's vote."""
    x = np.arange(n) % 4
    codes = np.stack([x, (x > 0).astype(int)], axis=1)
    return neighbours(
        "turned vote", codes, 0, (0, 3), (4, 4), f"{n} records on a step, one of them off it"
    )


def extremes(columns: int | None = None) -> tuple[Neighbours, ...]:
    """Return the documented extremes, small enough for thousands of runs, or those of a width."""
    if columns == 2:
        return turned_vote(), all_alike(columns=2, changed=2), all_alike(10, 2, 1)
    return strata(), all_alike(), one_cell()


# Random ones --------------------------------------------------------------------------

KINDS = ("any", "strata", "constant", "deterministic", "numeric", "tiny")


def many(
    seed: int,
    count: int,
    kinds: Sequence[str] = KINDS,
    rows: int | None = None,
    columns: int | None = None,
    least: int = 2,
) -> Iterator[Neighbours]:
    """Draw random schemas and extreme rows, with one record replaced; ``kinds`` are used in turn.

    ``columns`` fixes the number of columns, and ``least`` is the smallest number of rows.
    """
    rng = np.random.default_rng(seed)
    for k in range(count):
        kind = kinds[k % len(kinds)]
        d = int(rng.integers(2, 6)) if kind != "strata" else int(rng.integers(3, 5))
        d = columns or d
        levels = rng.integers(2, 5, d)
        n = rows or int(rng.integers(6, 12) if kind == "tiny" else rng.integers(20, 90))
        make = _numeric if kind == "numeric" else _levels
        yield make(rng, kind, max(n, least), levels)


def _levels(rng: np.random.Generator, kind: str, n: int, levels: Codes) -> Neighbours:
    # A small concentration makes nearly constant columns as frequent as even ones.
    columns = [rng.choice(int(r), n, p=rng.dirichlet(np.full(int(r), 0.5))) for r in levels]
    codes = np.stack(columns, axis=1)
    among = n
    if kind == "strata":
        among = int(rng.integers(2, 9))
        codes[:, -1] = 1
        codes[:among, -1] = 0
        codes[among:, 0] = 0
    elif kind == "constant":
        codes[:, rng.integers(len(levels))] = 0
    elif kind == "deterministic":
        codes[:, -1] = np.minimum(codes[:, 0], levels[-1] - 1)
    row = int(rng.integers(among))
    return neighbours(kind, codes, row, _record(rng, codes[row], levels), levels.tolist())


def _record(rng: np.random.Generator, old: Codes, levels: Codes) -> list[int]:
    """Return another record: the opposite corner, a random one, or one with one column changed."""
    how = rng.integers(3)
    if how == 0:
        return [int(size - 1 if value == 0 else 0) for value, size in zip(old, levels, strict=True)]
    new = [int(rng.integers(size)) for size in levels]
    if how == 2:
        column = int(rng.integers(len(levels)))
        new = [int(v) if j != column else new[j] for j, v in enumerate(old)]
    return new


def _numeric(rng: np.random.Generator, kind: str, n: int, levels: Codes) -> Neighbours:
    d = len(levels)
    values = rng.normal(0, 2, (n, d)).clip(-3, 3)
    if rng.integers(2):
        values[:, -1] = values[:, 0]
    changed, row = values.copy(), int(rng.integers(n))
    changed[row] = 3 * np.where(rng.integers(2, size=d) == 1, 1.0, -1.0)
    sides = (values, changed)
    a, b = (Dataset.from_values(v, [(-3.0, 3.0)] * d, bins=3, name=kind) for v in sides)
    return Neighbours(kind, "numeric columns, one record at the corner of its bounds", a, b, row)
