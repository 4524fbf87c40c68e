"""How the text of a column becomes levels and codes."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from engine.data.numerals import (
    HUGE,
    PLAIN,
    Numbers,
    as_dates,
    as_numbers,
    date_labels,
    number_style,
    numerals,
)
from engine.errors import DataError, InputError, did_you_mean, show

MAX_LEVELS = 64
MISSING_LEVEL = "missing"  # and what it is called where the data have such a level already
MORE_MISSING = tuple(f"{MISSING_LEVEL} ({i})" for i in range(2, MAX_LEVELS + 3))
_BLOCK = 1 << 20

# What a person says about columns -------------------------------------------------------


@dataclass(frozen=True)
class Reading:
    """How columns become levels; see `read_csv`, whose arguments these are.

    ``arranged`` is the order that a table itself has its values in, by column; those that occur are
    levels.
    """

    levels: Mapping[str, Sequence[str]]
    edges: Mapping[str, Sequence[float]]
    bins: int
    binning: Literal["quantile", "width"]
    max_levels: int
    numbers: Numbers = field(default_factory=lambda: Numbers())
    arranged: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for what, value in (("bins", self.bins), ("max_levels", self.max_levels)):
            if isinstance(value, bool) or not isinstance(value, int | np.integer):
                raise InputError(f"{what} must be a whole number.")
            if not 2 <= value <= MAX_LEVELS:
                raise InputError(f"{what} must be from 2 to {MAX_LEVELS}.")
        if self.binning not in ("quantile", "width"):
            raise InputError("binning must be 'quantile' or 'width'.")

    def with_levels(self, declared: Mapping[str, Sequence[str]]) -> Reading:
        """The same with levels that the table itself declares, where a person declares none."""
        return replace(self, levels={**declared, **self.levels})

    def check_columns(self, names: Sequence[str]) -> None:
        """Refuse a rule for a column that is not there, or two rules for one column."""
        for what, rules in (("levels", self.levels), ("edges", self.edges)):
            for name in rules:
                if name not in names:
                    hint = did_you_mean(name, names)
                    raise InputError(f"{what} names the column {name!r}, not in the data.{hint}")
        for name in self.levels.keys() & self.edges.keys():
            raise InputError(f"Column {name!r} has both levels and edges; give only one of them.")


@dataclass(frozen=True, repr=False)
class RawColumn:
    """A column as it was read: distinct cells as text, and per row the index into them.

    With ``numbers`` the index is the rows' values themselves (float, NaN where missing) and there
    are no words: a column of numbers with too many distinct values to list. ``gaps`` marks the rows
    without a value, which have no index then and become a level of their own, the last. ``left``
    marks the table's rows that the index is of, where it is not of all.
    """

    name: str
    values: list[str]
    index: np.ndarray
    numbers: bool = False
    gaps: np.ndarray | None = None
    left: np.ndarray | None = None

    @property
    def n(self) -> int:
        """Number of rows, those without a value included."""
        return len(self.index if self.gaps is None else self.gaps)

    def kept(self, rows: np.ndarray) -> RawColumn:
        """The column's rows of a mask, without the values that only the others had."""
        return replace(self, index=self.index[rows], left=rows).occurring()

    def where(self, wrong: Callable[[str], bool]) -> str:
        """The first row whose value is wrong: a refusal may leave the house, no value may."""
        first = first_row(self.index, map(wrong, self.values))
        return row_words(first if self.left is None else int(np.flatnonzero(self.left)[first]))

    def occurring(self) -> RawColumn:
        """The column without values that no row holds: a dictionary may list them."""
        if self.numbers:
            return self
        present = np.zeros(len(self.values), bool)
        for start in range(0, len(self.index), _BLOCK):
            present[self.index[start : start + _BLOCK]] = True
            if present.all():
                return self
        place = np.maximum(np.cumsum(present) - 1, 0).astype(self.index.dtype)
        words = [word for word, there in zip(self.values, present, strict=True) if there]
        return replace(self, values=words, index=look_up(place, self.index))


def first_row(index: np.ndarray, wrong: Iterable[bool]) -> int:
    """The first row whose index is into a value that is wrong; one of them is."""
    return int(np.isin(index, np.flatnonzero(list(wrong))).argmax())


def row_words(row: int) -> str:
    """What a refusal calls a row of the table, from 0: blank lines and comments are none."""
    return f"row {row + 1:,} below the header"


def look_up(table: np.ndarray, index: np.ndarray) -> np.ndarray:
    """``table[index]``; one byte through another at the speed of ``bytes.translate``."""
    if table.dtype == index.dtype == np.uint8 and len(table) <= 256:
        padded = np.zeros(256, np.uint8)
        padded[: len(table)] = table
        return np.frombuffer(index.tobytes().translate(padded.tobytes()), np.uint8)
    return np.asarray(table[index])


@dataclass(frozen=True)
class Coding:
    """What becomes of a column: the code of each distinct value, or the cut points of numbers."""

    place: np.ndarray
    levels: tuple[str, ...]
    note: str | None = None
    levels_from_data: bool = False

    def codes(self, column: RawColumn, kind: np.dtype[Any]) -> np.ndarray:
        """The rows' codes, of the given type."""
        if column.gaps is not None:
            out = np.full(column.n, len(self.levels) - 1, kind)
            out[~column.gaps] = self.codes(replace(column, gaps=None), kind)
            return out
        if column.numbers:  # block by block: searchsorted makes 8 bytes a row
            out = np.empty(len(column.index), kind)
            for start in range(0, len(out), _BLOCK):
                part = slice(start, start + _BLOCK)
                out[part] = np.searchsorted(self.place, column.index[part], side="right")
            return out
        return look_up(self.place.astype(kind), column.index)


# Levels and codes ---------------------------------------------------------------------


def notes(names: tuple[str, ...], coded: Sequence[Coding]) -> tuple[str, ...]:
    """What was done to the columns on reading, one sentence each, for :attr:`Dataset.notes`."""
    notes = [column.note for column in coded if column.note]
    found = [name for name, column in zip(names, coded, strict=True) if column.levels_from_data]
    if found:
        listed = ", ".join(found[:5]) + (f" and {len(found) - 5} more" if found[5:] else "")
        notes.append(
            f"The levels of {listed} are the values found in the data, read without noise; for a "
            "strict guarantee state the whole schema."
        )
    return tuple(notes)


def code_column(column: RawColumn, reading: Reading) -> Coding:
    """Decide on a column; its rows without a value get the last level."""
    coding = _decide(column, reading)
    if column.gaps is None:
        return coding
    extra = next(w for w in (MISSING_LEVEL, *MORE_MISSING) if w not in coding.levels)
    return replace(coding, levels=(*coding.levels, extra))


def _decide(column: RawColumn, reading: Reading) -> Coding:
    """Declared levels, declared edges, few numbers, bins, dates, or text."""
    if column.numbers:
        return _many_numbers(column, reading)
    if column.name in reading.levels:
        return _declared(column, [str(level) for level in reading.levels[column.name]])
    if column.name in reading.arranged:
        return _arranged(column, reading.arranged[column.name])
    style = number_style(column.values, reading.numbers, column.name)
    numbers = None if style is None else as_numbers(column.values, style)
    if column.name in reading.edges:
        if numbers is None:
            raise DataError(f"Column {show(column.name)} has edges but is not all numbers.")
        cuts = _declared_cuts(column.name, reading.edges[column.name])
        return _cut(column, np.searchsorted(cuts, numbers, side="right"), numerals(cuts), None)
    single = len(column.values) == 1 or (numbers is not None and len(set(numbers)) == 1)
    if single and column.gaps is None:
        raise DataError(
            f"Column {show(column.name)} holds one value only; delete the column, or declare its "
            "levels if it could hold others."
        )
    if numbers is not None:
        coding = _few_or_binned(column, numbers, reading, numerals)
        return coding if style in (None, PLAIN) else _with_style(coding, column.name, style)
    dates = as_dates(column.values)
    if dates is not None:
        return _few_or_binned(column, dates, reading, date_labels)
    _refuse_endless(column, reading)
    return _text_levels(column)


def _few_or_binned(
    column: RawColumn,
    numbers: np.ndarray,
    reading: Reading,
    label: Callable[[np.ndarray], list[str]],
) -> Coding:
    if len(set(numbers)) <= reading.max_levels:
        return _numeric_levels(column, numbers)
    cuts = _data_cuts(numbers[column.index], reading)
    chosen = f"data-chosen {reading.binning} edges"
    return _cut(column, np.searchsorted(cuts, numbers, side="right"), label(cuts), chosen)


def _many_numbers(column: RawColumn, reading: Reading) -> Coding:
    """Numbers too many to list: cut at declared points or at those of the data."""
    values = column.index
    if column.name in reading.levels:
        raise DataError(
            f"Column {show(column.name)} holds too many numbers to be declared levels all of them."
        )
    if not (abs(values) < HUGE).all():
        raise DataError(
            f"Column {show(column.name)} holds a number too large to compare; correct it."
        )
    if column.name in reading.edges:
        cuts = _declared_cuts(column.name, reading.edges[column.name])
        return _cut(column, cuts, numerals(cuts), None)
    cuts = _data_cuts(values, reading)
    return _cut(column, cuts, numerals(cuts), f"data-chosen {reading.binning} edges")


def _with_style(coding: Coding, name: str, style: Numbers) -> Coding:
    """The coding, and a note on how the column's numbers were understood."""
    how = "decimal commas" if style.decimal == "," else "commas between thousands"
    said = f"Column {name} has {how}: it was read as numbers."
    return replace(coding, note=said if coding.note is None else f"{said} {coding.note}")


def _declared(column: RawColumn, levels: list[str]) -> Coding:
    shown = show(column.name)
    if not 2 <= len(levels) <= MAX_LEVELS or len(set(levels)) < len(levels):
        raise InputError(f"Column {shown} needs 2 to {MAX_LEVELS} declared levels, all distinct.")
    position = {level: k for k, level in enumerate(levels)}
    if not position.keys() >= set(column.values):
        first = column.where(lambda value: value not in position)
        raise DataError(f"Column {shown} holds what is not a declared level, first in {first}.")
    return Coding(np.array([position[v] for v in column.values], np.intp), tuple(levels))


_ENDLESS = frozenset({"inf", "+inf", "-inf", "infinity", "-infinity"})


def _refuse_endless(column: RawColumn, reading: Reading) -> None:
    """A column of numbers but for infinite ones is no column of words."""
    endless = [word for word in column.values if word.casefold() in _ENDLESS]
    rest = [word for word in column.values if word.casefold() not in _ENDLESS]
    if endless and number_style(rest, reading.numbers, column.name) is not None:
        raise DataError(
            f"Column {show(column.name)} holds an infinite number; correct it, or leave the cell "
            "empty."
        )


def _arranged(column: RawColumn, order: Sequence[str]) -> Coding:
    """Categories in the order of their table, without those that never occur."""
    occur = set(column.values)
    levels = [word for word in order if word in occur]
    if len(levels) < 2 and column.gaps is None:
        raise DataError(
            f"Column {show(column.name)} holds one value only; delete the column, or declare its "
            "levels if it could hold others."
        )
    place = np.array([levels.index(word) for word in column.values], np.intp)
    return Coding(place, tuple(levels), levels_from_data=True)


def _text_levels(column: RawColumn) -> Coding:
    if len(column.values) > MAX_LEVELS:
        first = column.where(lambda value: as_numbers([value], PLAIN) is None)
        raise DataError(
            f"Column {show(column.name)} has more than {MAX_LEVELS} distinct values that are not "
            f"all numbers (the first that is none is in {first}); group them, or delete the column."
        )
    order = sorted(range(len(column.values)), key=lambda i: natural_key(column.values[i]))
    rank = np.argsort(order)
    levels = tuple(column.values[i] for i in order)
    return Coding(rank, levels, levels_from_data=True)


def _numeric_levels(column: RawColumn, numbers: np.ndarray) -> Coding:
    """Levels in numeric order; spellings of one number (1, 1.0) share the shortest label."""
    _, rank = np.unique(numbers, return_inverse=True)
    spellings = sorted(zip(rank, map(len, column.values), column.values, strict=True), reverse=True)
    shortest = {int(k): value for k, _, value in spellings}
    levels = tuple(shortest[k] for k in range(len(shortest)))
    return Coding(rank, levels, levels_from_data=True)


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


def _cut(column: RawColumn, place: np.ndarray, points: list[str], chosen: str | None) -> Coding:
    """Levels between cut points, written as given; `chosen` says how, where the data chose them."""
    labels = _intervals(points)
    if chosen is None:
        note = f"Column {column.name} was cut into {len(labels)} levels at declared edges."
    else:
        note = (
            f"Column {column.name} was cut into {len(labels)} levels at {chosen} "
            f"({', '.join(points)}), read from the data without noise; for a strict "
            "guarantee state the whole schema."
        )
    return Coding(place, labels, note)


def interval_labels(cuts: np.ndarray) -> tuple[str, ...]:
    """Labels of the k + 1 levels that k cut points make: "< a", "[a, b)", ">= b"."""
    return _intervals(numerals(cuts))


def _intervals(points: list[str]) -> tuple[str, ...]:
    inner = [f"[{low}, {high})" for low, high in pairwise(points)]
    return (f"< {points[0]}", *inner, f">= {points[-1]}")


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


def repeated(names: Sequence[str]) -> str:
    """The first name that occurs a second time; StopIteration where none does."""
    return next(name for i, name in enumerate(names) if name in names[:i])
