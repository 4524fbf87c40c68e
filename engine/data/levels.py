"""How the text of a column becomes levels and codes."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np

from engine.errors import DataError, InputError, did_you_mean

MAX_LEVELS = 64
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
HUGE = 1e300  # beyond it, differences of two values overflow

# Reading CSV files ------------------------------------------------------------------


@dataclass(frozen=True)
class Reading:
    """How columns become levels; see `read_csv`, whose arguments these are."""

    levels: Mapping[str, Sequence[str]]
    edges: Mapping[str, Sequence[float]]
    bins: int
    binning: Literal["quantile", "width"]
    max_levels: int

    def __post_init__(self) -> None:
        for what, value in (("bins", self.bins), ("max_levels", self.max_levels)):
            if isinstance(value, bool) or not isinstance(value, int | np.integer):
                raise InputError(f"{what} must be a whole number.")
            if not 2 <= value <= MAX_LEVELS:
                raise InputError(f"{what} must be from 2 to {MAX_LEVELS}.")
        if self.binning not in ("quantile", "width"):
            raise InputError("binning must be 'quantile' or 'width'.")

    def check_columns(self, names: Sequence[str]) -> None:
        """Refuse a rule for a column that is not there, or two rules for one column."""
        for what, rules in (("levels", self.levels), ("edges", self.edges)):
            for name in rules:
                if name not in names:
                    hint = did_you_mean(name, names)
                    raise InputError(f"{what} names the column {name!r}, not in the data.{hint}")
        for name in self.levels.keys() & self.edges.keys():
            raise InputError(f"Column {name!r} has both levels and edges; give only one of them.")


@dataclass(frozen=True)
class RawColumn:
    """A column of text: distinct stripped cells, and per row the index into them."""

    name: str
    values: list[str]
    index: np.ndarray

    def counts(self) -> np.ndarray:
        return np.bincount(self.index, minlength=len(self.values))


@dataclass(frozen=True)
class _CodedColumn:
    codes: np.ndarray
    levels: tuple[str, ...]
    note: str | None = None
    levels_from_data: bool = False


def notes(names: tuple[str, ...], coded: list[_CodedColumn]) -> tuple[str, ...]:
    notes = [column.note for column in coded if column.note]
    found = [name for name, column in zip(names, coded, strict=True) if column.levels_from_data]
    if found:
        listed = ", ".join(found[:5]) + (f" and {len(found) - 5} more" if found[5:] else "")
        notes.append(
            f"The levels of {listed} are the values found in the data, read without noise; for a "
            "strict guarantee declare them as public facts (levels)."
        )
    return tuple(notes)


def code_column(column: RawColumn, reading: Reading) -> _CodedColumn:
    """Turn text into codes: declared levels, declared edges, few numbers, bins, or text."""
    if column.name in reading.levels:
        return _declared(column, [str(level) for level in reading.levels[column.name]])
    numbers = _numbers(column.values)
    if column.name in reading.edges:
        if numbers is None:
            raise DataError(f"Column {show(column.name)} has edges but is not all numbers.")
        cuts = _declared_cuts(column.name, reading.edges[column.name])
        return _cut(column, numbers, cuts, None)
    if len(column.values) == 1 or (numbers is not None and len(set(numbers)) == 1):
        raise DataError(
            f"Column {show(column.name)} holds one value only; delete the column, or declare its "
            "levels if it could hold others."
        )
    if numbers is None:
        return _text_levels(column)
    if len(set(numbers)) <= reading.max_levels:
        return _numeric_levels(column, numbers)
    cuts = _data_cuts(numbers[column.index], reading)
    return _cut(column, numbers, cuts, f"data-chosen {reading.binning} edges")


def _numbers(values: list[str]) -> np.ndarray | None:
    """Return the values as floats where every one is a number of usable size, else nothing."""
    if not all(map(_NUMBER.fullmatch, values)):
        return None
    numbers = np.array([float(value) for value in values])
    return numbers if (abs(numbers) < HUGE).all() else None


def parse_number(value: str) -> float | None:
    """The number that a cell spells, if it spells one of usable size."""
    if not _NUMBER.fullmatch(value) or not abs(number := float(value)) < HUGE:
        return None
    return number


def _declared(column: RawColumn, levels: list[str]) -> _CodedColumn:
    shown = show(column.name)
    if not 2 <= len(levels) <= MAX_LEVELS or len(set(levels)) < len(levels):
        raise InputError(f"Column {shown} needs 2 to {MAX_LEVELS} declared levels, all distinct.")
    position = {level: k for k, level in enumerate(levels)}
    for value in column.values:
        if value not in position:
            raise DataError(f"Column {shown} holds {show(value)}, which is not a declared level.")
    return _CodedColumn(np.array([position[v] for v in column.values])[column.index], tuple(levels))


def _text_levels(column: RawColumn) -> _CodedColumn:
    if len(column.values) > MAX_LEVELS:
        example = next(v for v in column.values if _numbers([v]) is None)
        raise DataError(
            f"Column {show(column.name)} has {len(column.values):,} distinct values that are not "
            f"all numbers (such as {show(example)}); keep at most {MAX_LEVELS} by grouping them, "
            "or delete the column."
        )
    order = sorted(range(len(column.values)), key=lambda i: natural_key(column.values[i]))
    rank = np.argsort(order)
    levels = tuple(column.values[i] for i in order)
    return _CodedColumn(rank[column.index], levels, levels_from_data=True)


def _numeric_levels(column: RawColumn, numbers: np.ndarray) -> _CodedColumn:
    """Levels in numeric order; spellings of one number (1, 1.0) share the shortest label."""
    _, rank = np.unique(numbers, return_inverse=True)
    spellings = sorted(zip(rank, map(len, column.values), column.values, strict=True), reverse=True)
    shortest = {int(k): value for k, _, value in spellings}
    levels = tuple(shortest[k] for k in range(len(shortest)))
    return _CodedColumn(rank[column.index], levels, levels_from_data=True)


def _declared_cuts(name: str, edges: Sequence[float]) -> np.ndarray:
    try:
        cuts = np.asarray(edges, dtype=float)
    except (TypeError, ValueError):
        cuts = np.array([math.nan])
    finite = cuts.ndim == 1 and np.isfinite(cuts).all()
    if not finite or not 1 <= len(cuts) < MAX_LEVELS or not (np.diff(cuts) > 0).all():
        raise InputError(
            f"The edges of column {show(name)} must be 1 to {MAX_LEVELS - 1} increasing numbers."
        )
    return cuts


def _data_cuts(values: np.ndarray, reading: Reading) -> np.ndarray:
    """Return cut points in (min, max], (n,) -> at most bins - 1 of them, at least one."""
    low, high = values.min(), values.max()
    steps = np.arange(1, reading.bins) / reading.bins
    if reading.binning == "width":
        points: np.ndarray = low + (high - low) * steps
    else:
        points = np.quantile(values, steps)
    cuts = np.unique(points[points > low])
    # So many ties at the minimum that every quantile is there: cut just above it.
    return cuts if cuts.size else np.array([values[values > low].min()])


def _cut(
    column: RawColumn, numbers: np.ndarray, cuts: np.ndarray, chosen: str | None
) -> _CodedColumn:
    """Code values by the cut points; `chosen` says how, where the data chose them."""
    codes = np.searchsorted(cuts, numbers, side="right")[column.index]
    labels = interval_labels(cuts)
    if chosen is None:
        note = f"Column {column.name} was cut into {len(labels)} levels at declared edges."
    else:
        note = (
            f"Column {column.name} was cut into {len(labels)} levels at {chosen} "
            f"({', '.join(_numerals(cuts))}), read from the data without noise; for a strict "
            "guarantee give the edges as public facts (edges)."
        )
    return _CodedColumn(codes, labels, note)


def interval_labels(cuts: np.ndarray) -> tuple[str, ...]:
    shown = _numerals(cuts)
    inner = [f"[{low}, {high})" for low, high in pairwise(shown)]
    return (f"< {shown[0]}", *inner, f">= {shown[-1]}")


def _numerals(cuts: np.ndarray) -> list[str]:
    """Six digits where they tell the cut points apart, else all digits."""
    short = [f"{cut:.6g}" for cut in cuts]
    return short if len(set(short)) == len(short) else [repr(float(cut)) for cut in cuts]


def natural_key(text: str) -> tuple[list[tuple[int, int, str]], str]:
    """Sort key: upper and lower case alike, runs of digits by their value ("x2" < "x10")."""
    parts = re.findall(r"[0-9]+|[^0-9]+", text.casefold())
    # Digit runs compare as (length, digits): their value, without converting huge numbers.
    runs = [part.lstrip("0") if part[0] in "0123456789" else None for part in parts]
    keys = [
        (1, 0, part) if run is None else (0, len(run), run)
        for part, run in zip(parts, runs, strict=True)
    ]
    return keys, text


def show(value: str) -> str:
    """Quote a value for a message, on one line and not too long."""
    return repr(value if len(value) <= 60 else value[:57] + "...")
