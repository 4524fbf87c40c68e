"""One column's public facts, and how its cells become codes."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.data.levels import MAX_LEVELS, MISSING_LEVEL, interval_labels
from engine.data.numerals import HUGE, Numbers
from engine.data.spreadsheets import safe
from engine.errors import DataError, InputError, show, writable

TYPES = ("ordered", "unordered", "numeric")
MOST_TEXT = 200
LEVEL = "level"  # of a numeric column's ``other``: no number is a level of its own
REFUSED = 255  # the code of a cell without a number where nothing is said of it
# How a person's rows become one: the first or last by the order that the schema names, the highest
# level of any, the most frequent, the sum of numbers, how many rows there are.
TAKES = ("first", "last", "any", "most", "sum", "count")
ADDED = ("sum", "count")  # numbers made of all rows, cut afterwards


@dataclass(frozen=True, kw_only=True)
class Column:
    """One column's public facts.

    ``type`` "ordered" or "unordered": ``levels`` in their order (of an unordered column it is only
    a listing; rank tests still use it). "numeric": ``cuts``, a value on a cut point belonging to
    the level above it; or ``bounds`` (lowest, highest) cut into ``bins`` of equal width, values
    outside clipped to them. ``other`` is what an unforeseen cell counts as: a level (the first by
    default); of a numeric column a number, or "level" for a level of its own, the last. A numeric
    column that does not say it refuses cells without a number. ``take`` is how a person's rows
    become one (:data:`TAKES`), where the schema names persons. ``stated`` False marks facts that
    were found in the data and that nobody stated: no guarantee is given for what they read. Raises
    InputError for facts that do not fit together.

    Examples:
        >>> Column(name="age", type="numeric", bounds=(0, 100), bins=2, other="level").labels
        ('< 50', '>= 50', 'missing')
        >>> Column(name="visits", type="numeric", cuts=(1, 3, 6)).labels
        ('< 1', '[1, 3)', '[3, 6)', '>= 6')
    """

    name: str
    type: str
    levels: tuple[str, ...] = ()
    bounds: tuple[float, float] | None = None
    bins: int = 5
    cuts: tuple[float, ...] = ()
    other: str | float | None = None
    take: str | None = None
    stated: bool = True

    def __post_init__(self) -> None:
        _check_name(self.name)
        if self.type not in TYPES:
            raise InputError(
                f"The type of column {show(self.name)} is one of {', '.join(TYPES)}, not "
                f"{show(str(self.type))}."
            )
        (_check_numeric if self.type == "numeric" else _check_levels)(self)
        _check_take(self)
        if not isinstance(self.stated, bool):
            raise InputError(f"What is stated of column {show(self.name)} is true or false.")

    @property
    def size(self) -> int:
        """How many levels there are, without naming them."""
        if self.type != "numeric":
            return len(self.levels)
        return len(self.points()) + 1 + (self.other == LEVEL)

    @property
    def labels(self) -> tuple[str, ...]:
        """The levels in code order."""
        if self.type != "numeric":
            return self.levels
        gap = (MISSING_LEVEL,) if self.other == LEVEL else ()
        return (*interval_labels(np.array(self.points())), *gap)

    def points(self) -> list[float]:
        """Where the levels of a numeric column begin, but for the lowest."""
        if self.bounds is None:
            return [float(cut) for cut in self.cuts]
        return [float(cut) for cut in np.linspace(*self._ends(), self.bins + 1)[1:-1]]

    def codes(self, words: list[str], numbers: Numbers) -> np.ndarray:
        """The code of each word (cells are stripped), whatever they are; or REFUSED."""
        if self.type != "numeric":
            # Also as a file of ours has them, which a spreadsheet may open.
            position = {safe(level): k for k, level in enumerate(self.levels)}
            position |= {level: k for k, level in enumerate(self.levels)}
            rest = 0 if self.other is None else position[str(self.other)]
            return np.array([position.get(w, rest) for w in words], dtype=np.uint8)
        values = self.values(words, numbers)
        points = self.points()
        found = np.searchsorted(points, values, side="right")
        found[np.isnan(values)] = REFUSED if self.other is None else len(points) + 1
        return found.astype(np.uint8)  # there are at most 64 levels

    def values(self, words: list[str], numbers: Numbers) -> np.ndarray:
        """The number of each word within the bounds, if there are any; NaN where none is said."""
        found = self.free(words, numbers)
        return found if self.bounds is None else np.asarray(np.clip(found, *self._ends()))

    def _ends(self) -> tuple[float, float]:
        """The bounds as numpy takes them: a whole number may be too long for its integers."""
        assert self.bounds is not None
        return float(self.bounds[0]), float(self.bounds[1])

    def free(self, words: list[str], numbers: Numbers) -> np.ndarray:
        """The number of each word, whatever the bounds; NaN where none is said to stand for it."""
        rest = self.other if isinstance(self.other, int | float) else math.nan
        pattern = numbers.pattern()
        return np.array([numbers.value(w) if pattern.fullmatch(w) else rest for w in words], float)


def without_number(name: str) -> DataError:
    """What to say of a column that holds a cell without a number where the schema says nothing."""
    return DataError(
        f"Column {show(name)} has a missing number; say in the schema what it counts as: "
        f'"other": "{LEVEL}" for a level of its own, or a number.'
    )


def _check_name(name: Any) -> None:
    if not is_text(name) or not name.strip():
        raise InputError(
            f"Every column of a schema needs a name: text of 1 to {MOST_TEXT} characters."
        )


def _check_levels(column: Column) -> None:
    shown, levels = show(column.name), column.levels
    texts = all(map(is_text, levels))
    if not texts or not 2 <= len(levels) <= MAX_LEVELS or len(set(levels)) < len(levels):
        raise InputError(
            f"Column {shown} needs a list of 2 to {MAX_LEVELS} levels, each a different text."
        )
    if column.bounds is not None or column.cuts:
        raise InputError(f"Column {shown} has levels; bounds and cuts are for numeric columns.")
    if column.other is not None and column.other not in levels:
        raise InputError(f"The other value of column {shown} must be one of its levels.")


def _check_numeric(column: Column) -> None:
    shown = show(column.name)
    if column.levels:
        raise InputError(f"Column {shown} is numeric; give bounds and bins, or cuts, not levels.")
    (_check_cuts if column.cuts else _check_bins)(column)
    if column.other == LEVEL and len(column.points()) + 1 == MAX_LEVELS:
        raise InputError(f"Column {shown} has {MAX_LEVELS} bins and no room for a level of gaps.")
    if column.other not in (None, LEVEL) and not _is_number(column.other):
        raise InputError(
            f'The other value of the numeric column {shown} must be a number, or "{LEVEL}".'
        )


def _check_cuts(column: Column) -> None:
    shown, cuts = show(column.name), column.cuts
    if column.bounds is not None:
        raise InputError(f"Column {shown} has both bounds and cuts; give only one of them.")
    numbers = isinstance(cuts, tuple) and all(_is_number(cut) and abs(cut) < HUGE for cut in cuts)
    if not numbers or len(cuts) >= MAX_LEVELS or (np.diff([float(c) for c in cuts]) <= 0).any():
        raise InputError(
            f"The cuts of column {shown} must be 1 to {MAX_LEVELS - 1} increasing numbers."
        )


def _check_bins(column: Column) -> None:
    shown, bounds = show(column.name), column.bounds
    pair = isinstance(bounds, tuple) and len(bounds) == 2 and all(map(_is_number, bounds))
    if not pair or not -HUGE < bounds[0] < bounds[1] < HUGE:  # type: ignore[index]
        raise InputError(
            f"Column {shown} needs bounds (two numbers, the lower one first), or cuts."
        )
    if isinstance(column.bins, bool) or not isinstance(column.bins, int):
        raise InputError(f"The bins of column {shown} must be a whole number.")
    if not 2 <= column.bins <= MAX_LEVELS:
        raise InputError(f"The bins of column {shown} must be from 2 to {MAX_LEVELS}.")
    if (np.diff(column.points()) <= 0).any():
        raise InputError(f"The bounds of column {shown} are too close for {column.bins} bins.")


def _check_take(column: Column) -> None:
    shown = show(column.name)
    if column.take is not None and column.take not in TAKES:
        raise InputError(
            f"How a person's rows become one in column {shown} is one of {', '.join(TAKES)}."
        )
    if column.take in ADDED and column.type != "numeric":
        raise InputError(f"The {column.take} of column {shown} is a number; give cuts or bounds.")
    if column.take == "count" and column.other is not None:
        raise InputError(f"Column {shown} counts rows and has no other value; leave it out.")


def is_text(value: Any) -> bool:
    """Whether it can be a name or a level: text that a file can hold, of a sensible length."""
    return isinstance(value, str) and len(value) <= MOST_TEXT and writable(value)


def _is_number(value: Any) -> bool:
    real = isinstance(value, int | float) and not isinstance(value, bool)
    return real and abs(value) <= sys.float_info.max  # a whole number may be larger than any float
