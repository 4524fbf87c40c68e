"""Numbers and dates as people write them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np

from engine.errors import DataError, InputError, show

HUGE = 1e300  # beyond it, differences of two values overflow
_DATE = re.compile(
    r"\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)?)?", re.ASCII
)


@dataclass(frozen=True)
class Numbers:
    """How numbers are written; None is found out, column by column, where only one way fits.

    ``ambiguous`` is what a comma counts as where two ways fit; with ``either`` a comma is read as
    a point, number by number, without looking at others.
    """

    decimal: str | None = None
    thousands: str | None = None
    ambiguous: str | None = None
    either: bool = False

    def __post_init__(self) -> None:
        if self.decimal not in (None, ".", ","):
            raise InputError("decimal must be '.' or ','.")
        if self.thousands not in (None, "", ",", ".", " ", "'"):
            raise InputError("thousands must be ',', '.', a space or an apostrophe.")
        if self.thousands and self.thousands == (self.decimal or "."):
            raise InputError("decimal and thousands must differ; say both.")

    @property
    def said(self) -> bool:
        """Whether a person has said it."""
        return self.decimal is not None or self.thousands is not None

    def value(self, word: str) -> float:
        """The number that a word stands for."""
        if self.thousands:
            word = word.replace(self.thousands, "")
        return float(word.replace(",", ".") if self.decimal == "," or self.either else word)

    def pattern(self) -> re.Pattern[str]:
        """What a number looks like.

        Every digit has one place to be in: a cell of very many takes no longer than it is long.
        """
        point = "[.,]" if self.either else re.escape(self.decimal or ".")
        number = rf"\d+(?:{point}\d*)?|{point}\d+"
        if self.thousands:
            cut = re.escape(self.thousands)
            number = rf"\d{{1,3}}(?:{cut}\d{{3}})+{point}?\d*|{number}"
        return re.compile(rf"[+-]?({number})([eE][+-]?\d+)?", re.ASCII)


PLAIN = Numbers(".", "")
_COMMA = Numbers(",", "")
_GROUPED = Numbers(".", ",")
_GROUPED_COMMA = Numbers(",", ".")


def number_style(values: Sequence[str], said: Numbers, name: str) -> Numbers | None:
    """How the values are written if all are numbers, else None; DataError where two ways fit."""
    if said.said:
        return said if _all_numbers(values, said) else None
    if _all_numbers(values, PLAIN):
        return PLAIN
    comma, grouped = _all_numbers(values, _COMMA), _all_numbers(values, _GROUPED)
    if comma and grouped and said.ambiguous is None:
        raise DataError(
            f"Column {show(name)} holds numbers whose comma may be a decimal or a thousands "
            "separator; say decimal=',' or thousands=','."
        )
    if comma or grouped:
        return _COMMA if comma else _GROUPED
    return _GROUPED_COMMA if _all_numbers(values, _GROUPED_COMMA) else None


def _all_numbers(values: Sequence[str], style: Numbers) -> bool:
    return all(map(style.pattern().fullmatch, values))


def as_numbers(values: Sequence[str], style: Numbers) -> np.ndarray | None:
    """Return the values as floats where every one is a number of usable size, else nothing."""
    if not _all_numbers(values, style):
        return None
    numbers = np.array([style.value(value) for value in values], float)
    return numbers if (abs(numbers) < HUGE).all() else None


def as_dates(values: Sequence[str]) -> np.ndarray | None:
    """ISO dates or times as seconds since 1970, if the values are nothing else."""
    moments = [moment(value) for value in values]
    return None if None in moments else np.array(moments, float)


def moment(word: str) -> float | None:
    """An ISO date or time as seconds since 1970, in UTC where no zone is said; else None."""
    if not _DATE.fullmatch(word):
        return None
    try:
        found = datetime.fromisoformat(word)
    except ValueError:
        return None
    return (found if found.tzinfo is not None else found.replace(tzinfo=UTC)).timestamp()


def date_labels(cuts: np.ndarray) -> list[str]:
    """Cut points, in seconds since 1970, as ISO dates; with the time where two share a day."""
    moments = [datetime.fromtimestamp(cut, tz=UTC) for cut in cuts]
    short = [moment.date().isoformat() for moment in moments]
    if len(set(short)) == len(short):
        return short
    return [moment.replace(tzinfo=None).isoformat(" ") for moment in moments]


def numerals(cuts: np.ndarray) -> list[str]:
    """Six digits where they tell the cut points apart, else all digits."""
    short = [f"{cut:.6g}" for cut in cuts]
    return short if len(set(short)) == len(short) else [repr(float(cut)) for cut in cuts]
