"""Batches of a table, tallied: each column's distinct values and, per row, which one it is.

The text of a column is never held: a batch comes with its own small dictionary of distinct values
(Arrow's dictionary encoding), which is merged into the column's; what stays is one index a row in
the narrowest unsigned type. A column of numbers with very many distinct values is kept as numbers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from engine.data.column import REFUSED, without_number
from engine.data.levels import RawColumn, first_row, look_up, row_words
from engine.data.numerals import Numbers, as_numbers, number_style
from engine.errors import DataError, InputError, show

Coder = Callable[[list[str]], np.ndarray]  # distinct words of a column -> the code of each
_WHOLE = 2.0**63  # whole numbers below it are written in full
MOST_WORDS = 100_000  # more distinct values than these are numbers, or they are no levels
MISSING = frozenset({"", "?", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "None"})

_NO_LEVELS = "Column {} holds values of the type {}, which are no levels; leave it out."


class NotPlain(Exception):
    """The fast reader met something that only the careful one can judge."""


@dataclass(frozen=True)
class Batches:
    """A table on its way in: names of its columns, and record batches of that many columns.

    ``label`` is what messages call it; ``spaced`` says that cells are text whose outer blanks mean
    nothing; ``ordered`` are levels that the table itself declares, by column; ``arranged`` the
    order in which it has categories that it does not declare; ``notes`` say what was left out on
    the way; ``sparse`` tables (workbooks) hold no rows that are blank at their end; ``separator``
    is that of delimited text.
    """

    label: str
    names: list[str]
    arrays: Iterable[list[pa.Array]]
    spaced: bool = False
    ordered: dict[str, list[str]] | None = None
    arranged: dict[str, list[str]] | None = None
    notes: tuple[str, ...] = ()
    sparse: bool = False
    separator: str = ""

    def guessed(self, numbers: Numbers) -> Numbers:
        """How numbers are written where nothing is defended: beside semicolons a comma that may be
        either is the decimal sign, as where semicolons are used.
        """
        return replace(numbers, ambiguous=",") if self.separator == ";" else numbers

    def written(self, numbers: Numbers) -> Numbers:
        """How numbers are written under a schema: beside semicolons with a point or a comma.

        The separator is the header's, which no record changes.
        """
        if self.separator != ";" or numbers.said:
            return numbers
        return replace(numbers, either=True)

    def stated(self, rows: int | None) -> Batches:
        """The records under a schema: in a sparse table, so many as the schema states.

        A record whose cells are all blank is a record. InputError where the schema states none.
        """
        if not self.sparse:
            return self
        if rows is None:
            raise InputError(
                "A workbook does not tell blank rows at its end from none: state the number of "
                'rows in the schema ("rows"), or save the sheet as CSV.'
            )
        return replace(self, arrays=self._padded(rows))

    def _padded(self, rows: int) -> Iterator[list[pa.Array]]:
        n = 0
        for arrays in self.arrays:
            n += len(arrays[0])
            yield arrays
        if n < rows:
            yield [pa.nulls(rows - n, pa.string()) for _ in self.names]

    def filled(self) -> Batches:
        """Without a sparse table's blank rows, which are no records where nothing is stated."""
        return replace(self, arrays=map(_filled, self.arrays)) if self.sparse else self


def _filled(arrays: list[pa.Array]) -> list[pa.Array]:
    words = [pc.not_equal(pc.fill_null(array, ""), "") for array in arrays]
    some = np.logical_or.reduce([w.to_numpy(zero_copy_only=False) for w in words])
    return [array.filter(pa.array(some)) for array in arrays]


class _Growing:
    """A long array that grows at its end, and in the width of its items, without a second copy."""

    def __init__(self) -> None:
        self._kind: np.dtype[Any] = np.dtype(np.uint8)
        self._bytes = bytearray()  # which the system enlarges in place

    def extend(self, items: np.ndarray) -> None:
        """Append items; wider ones widen all."""
        kind = np.promote_types(self._kind, items.dtype)
        if kind != self._kind:
            self._bytes = bytearray(self.array().astype(kind).tobytes())
            self._kind = kind
        self._bytes += np.ascontiguousarray(items, kind).data.cast("B")

    def array(self) -> np.ndarray:
        """All items, read where they are."""
        return np.frombuffer(self._bytes, self._kind)


class Tally:
    """One column: its distinct values so far and, batch by batch, every row's index into them."""

    def __init__(self, name: str, spaced: bool, style: Numbers):
        self.name, self._spaced, self._style = name, spaced, style
        self._seen: dict[str, int] = {}
        self._rows = _Growing()
        self._numeric = False
        self.overflowed = False  # only a column without a name, which is left out anyway

    def add(self, array: pa.Array) -> None:
        """Take in the column's next rows."""
        if self.overflowed:
            return
        if self._numeric:
            self._rows.extend(self._as_floats(array))
            return
        words, index = words_of(array, self.name, self._spaced)
        seen = self._seen
        place = np.array([seen.setdefault(word, len(seen)) for word in words], np.uint32)
        narrow = place.astype(np.min_scalar_type(max(len(seen) - 1, 0)))
        rows = index.to_numpy(zero_copy_only=False)
        if len(narrow) <= 256:
            rows = rows.astype(np.uint8)
        self._rows.extend(look_up(narrow, rows))
        if len(seen) > MOST_WORDS:
            self._outgrow()

    def _outgrow(self) -> None:
        """Too many values for levels: numbers from here on, or an error."""
        if not self.name:
            self.overflowed, self._rows = True, _Growing()
            return
        words = list(self._seen)
        real = [word for word in words if word not in MISSING]
        style = number_style(real, self._style, self.name)
        if style is None:
            strange = (w not in MISSING and not self._is_number(w) for w in words)
            first = first_row(self._rows.array(), strange)
            raise DataError(
                f"Column {show(self.name)} has more than {MOST_WORDS:,} distinct values that are "
                f"not all numbers (the first that is none is in {row_words(first)}); group them, "
                "or delete the column."
            )
        self._style = style
        floats = np.array([np.nan if w in MISSING else style.value(w) for w in words])
        index, self._rows = self._rows.array(), _Growing()
        self._rows.extend(floats[index])
        self._numeric = True

    def _is_number(self, word: str) -> bool:
        return number_style([word], self._style, self.name) is not None

    def _as_floats(self, array: pa.Array) -> np.ndarray:
        if pa.types.is_integer(array.type) or pa.types.is_floating(array.type):
            return np.asarray(
                pc.cast(array, pa.float64(), safe=False).to_numpy(zero_copy_only=False)
            )
        if not isinstance(array, pa.DictionaryArray):
            array = _encoded(array, self.name)
        words = [word.strip() for word in texts(array.dictionary, self.name)]
        if as_numbers([word for word in words if word not in MISSING], self._style) is None:
            strange = (w not in MISSING and as_numbers([w], self._style) is None for w in words)
            here = array.indices.to_numpy(zero_copy_only=False)
            first = len(self._rows.array()) + first_row(here, strange)
            raise DataError(
                f"Column {show(self.name)} is all numbers up to {row_words(first)}; correct that, "
                "or delete the column."
            )
        floats = [np.nan if w in MISSING else self._style.value(w) for w in words]
        index = pc.fill_null(array.indices, len(words)).to_numpy(zero_copy_only=False)
        return np.asarray(np.array([*floats, np.nan])[index])

    def finish(self) -> RawColumn:
        """The whole column; this tally is empty afterwards."""
        rows, self._rows = self._rows.array(), _Growing()
        if self._numeric:
            return RawColumn(self.name, [], rows, numbers=True)
        return RawColumn(self.name, list(self._seen), rows).occurring()


def tally(batches: Batches, style: Numbers, most_rows: int) -> list[RawColumn]:
    """Take in every batch; DataError above ``most_rows`` rows."""
    tallies = [Tally(name, batches.spaced, style) for name in batches.names]
    n = 0
    for arrays in batches.arrays:
        n += len(arrays[0])
        if n > most_rows:
            raise DataError(f"{batches.label} has more than {most_rows:,} rows; give fewer.")
        for one, array in zip(tallies, arrays, strict=True):
            one.add(array)
    return list(_finished(tallies, n))


def coded(
    batches: Batches,
    places: Sequence[int],
    coders: Sequence[Coder],
    most_rows: int,
) -> list[np.ndarray]:
    """The rows' codes of the columns at some places, each word coded by its column's own rule.

    Nothing is learned from the words: no list of them is kept, and none is refused.
    """
    rows, n = [_Growing() for _ in places], 0
    for arrays in batches.arrays:
        n += len(arrays[0])
        if n > most_rows:
            raise DataError(f"{batches.label} has more than {most_rows:,} rows; give fewer.")
        for one, codes in zip(rows, batch_codes(batches, arrays, places, coders), strict=True):
            one.extend(codes)
    return [one.array() for one in rows]


def batch_codes(
    batches: Batches, arrays: list[pa.Array], places: Sequence[int], coders: Sequence[Coder]
) -> Iterator[np.ndarray]:
    """The codes of one batch, column by column."""
    for place, code in zip(places, coders, strict=True):
        words, index = words_of(arrays[place], batches.names[place], batches.spaced)
        codes = look_up(code(words), index.to_numpy(zero_copy_only=False))
        if codes.dtype == np.uint8 and (codes == REFUSED).any():
            raise without_number(batches.names[place])
        yield codes


def words_of(array: pa.Array, name: str, spaced: bool) -> tuple[list[str], Any]:
    """(distinct words, index of every row into them); a null is the word ""."""
    if isinstance(array, pa.DictionaryArray):
        words, index = texts(array.dictionary, name), array.indices
    else:
        encoded = _encoded(array, name)
        words, index = texts(encoded.dictionary, name), encoded.indices
    if spaced:
        words = [_plain(word) for word in words]
    if index.null_count:
        index = pc.fill_null(index, len(words))
        words.append("")
    return words, index


def _finished(tallies: list[Tally], n: int) -> Iterator[RawColumn]:
    for one in tallies:
        if one.overflowed:
            yield RawColumn(one.name, [], np.arange(n, dtype=float), numbers=True)
        else:
            yield one.finish()


# A quote that is never closed makes such a cell.
LONGEST_PLAIN = 1 << 17


def _plain(word: str) -> str:
    """A cell of a text file without its outer blanks."""
    word = word.strip()
    if word.startswith('"') or len(word) > LONGEST_PLAIN:
        raise NotPlain
    return word


def _encoded(array: pa.Array, name: str) -> pa.DictionaryArray:
    try:
        return _encodable(array, name).dictionary_encode()
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise DataError(_NO_LEVELS.format(show(name), array.type)) from None


def _encodable(array: pa.Array, name: str) -> Any:
    """The array, its type one that Arrow can encode and a level can be."""
    kind = array.type
    if pa.types.is_floating(kind):
        # NaN is how numeric tables write a missing value.
        return pc.if_else(pc.is_nan(array), pa.scalar(None, kind), array)
    if pa.types.is_null(kind):
        return pc.cast(array, pa.string())
    if pa.types.is_nested(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        raise DataError(_NO_LEVELS.format(show(name), kind))
    return array


def texts(dictionary: pa.Array, name: str) -> list[str]:
    """Every distinct value as the text that becomes its level's label.

    A value has one text whatever else its column holds: its type may follow from the others.
    """
    kind = dictionary.type
    if pa.types.is_floating(kind):
        return ["" if v is None or v != v else number_text(v) for v in dictionary.to_pylist()]
    if pa.types.is_boolean(kind):
        return ["" if v is None else str(v).lower() for v in dictionary.to_pylist()]
    if pa.types.is_decimal(kind):
        return ["" if v is None else decimal_text(v) for v in dictionary.to_pylist()]
    try:
        words = pc.cast(dictionary, pa.string()).to_pylist()
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise DataError(_NO_LEVELS.format(show(name), kind)) from None
    if pa.types.is_timestamp(kind):
        words = [None if w is None else _FRACTION.sub(_shorter, w) for w in words]
    return ["" if word is None else word for word in words]


# What follows the seconds of a time: as many digits as its type has.
_FRACTION = re.compile(r"(\.\d*?)0+(?=(Z|[+-]\d\d:?\d\d)?$)")


def _shorter(fraction: re.Match[str]) -> str:
    return fraction[1] if len(fraction[1]) > 1 else ""


def number_text(value: float) -> str:
    """A float as a person would type it: whole ones as whole numbers write themselves."""
    if value.is_integer() and abs(value) < _WHOLE:
        return str(int(value))
    return repr(value)


def decimal_text(value: Decimal) -> str:
    """A decimal number without the zeros that only its column's scale puts there."""
    return f"{value.normalize():f}" if value.is_finite() else ""
