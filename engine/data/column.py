"""The public facts about a column, the column that identifies persons, and the text dialect."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np

from engine.errors import InputError, did_you_mean, is_number, show, writable
from engine.percent import number

MAX_LEVELS = 64
# levels per column: a test of two columns with 12 levels inverts a matrix of 121 rows
MOST_RELEASED = 12
MOST_GROUPED = 1_000
MOST_COLUMNS = 1_000
MOST_TEXT = 200
HUGE = 1e300  # for larger values, differences of two values overflow
TYPES = ("ordered", "unordered", "numeric")
LEVEL = "level"  # for a numeric column's ``other``: non-numbers get a separate level
MISSING_LEVEL = "missing"
GAP_LEVELS = (MISSING_LEVEL, "no answer", "gap")  # levels for missing values
# Ways to combine a person's rows: the first or last in the order named by the schema, the highest
# level, the most frequent level, the sum of numbers, or the number of rows.
TAKES = ("first", "last", "any", "most", "sum", "count")
ADDED = ("sum", "count")  # numbers computed from all rows and cut into levels afterwards
DELIMITERS = (",", ";", "\t", "|")
# Formats of dates, in addition to ISO 8601.
DATES = ("%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y/%m/%d")
PARTS = ("year", "month")  # of a date, read as a number
_NAMED = f"name is text of 1 to {MOST_TEXT} characters"


@dataclass(frozen=True, kw_only=True)
class Column:
    """The public facts about one column.

    ``type`` "ordered" or "unordered" has ``levels`` in their order (for an unordered column it is
    only a listing, but rank tests use it). "numeric" has ``cuts``, and a value on a cut point
    belongs to the level above it. Or it has ``bounds`` (lowest, highest), divided into ``bins`` of
    equal width, and values outside are clipped to them. ``other`` replaces an unmatched value: one
    of the levels or, in a numeric column, a number, or "level" for a separate level at the end.
    Without ``other`` a table with an unmatched value is refused. ``missing`` lists codes, texts or
    numbers, that are read as missing; the default is the schema's. ``part`` "year" or "month" reads
    a date as this number. ``take`` combines a person's rows (:data:`TAKES`) if the schema names
    persons. ``declared=False`` marks facts that were inferred from the data: a run on them has no
    guarantee.

    ``groups`` merges levels. It maps a group's name to its levels, or to each level's share of the
    group (synthetic rows use the shares). The column's levels are then the groups, followed by the
    levels outside of groups. ``values`` gives public numbers by level. If there are ``cuts``,
    ``bounds`` are the lowest and highest value, a public fact. Raises InputError if facts do not
    fit together.

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
    missing: tuple[str | float, ...] | None = None
    groups: tuple[tuple[str, tuple[tuple[str, float], ...]], ...] = ()
    values: tuple[tuple[str, float], ...] = ()
    part: str | None = None
    take: str | None = None
    declared: bool = True

    def __post_init__(self) -> None:
        for what in ("levels", "bounds", "cuts", "missing"):
            object.__setattr__(self, what, listed(getattr(self, what), what))
        for what in ("groups", "values"):
            object.__setattr__(self, what, _paired(getattr(self, what), what))
        if self.groups and not self.levels:
            members = (word for _, group in self.groups for word, _ in group)
            object.__setattr__(self, "levels", tuple(members))
        if not _is_name(self.name):
            raise InputError(f"A column's {_NAMED}.")
        for fault in self._faults():
            raise InputError(f"The column {show(self.name)} {fault}.")

    def _faults(self) -> Iterator[str]:
        """Yield the facts that do not fit; each check relies on the checks before it."""
        for what, known in (("type", TYPES), ("part", (None, *PARTS)), ("take", (None, *TAKES))):
            if (value := getattr(self, what)) not in known:
                words = ", ".join(filter(None, known))
                yield f"has a {what} that is not one of {words}: {show(value)}"
        if not isinstance(self.declared, bool):  # a JSON file may have another type
            yield "is declared or not: give true or false"  # type: ignore[unreachable]
        codes = self.missing or ()
        if not all(_is_text(code) or is_number(code) for code in codes):
            yield "has codes for missing values that are neither texts nor numbers"
        yield from self._wrong_numbers() if self.type == "numeric" else self._wrong_levels()
        if both := {str(c).strip().lower() for c in codes} & {w.lower() for w in self.levels}:
            yield f"has {show(min(both))} both as a level and as a code for missing values"
        if self.values and not {word for word, _ in self.values} <= {*self.labels}:
            yield "has a value for a level that it does not have"

    def _wrong_levels(self) -> Iterator[str]:
        levels, most = self.levels, MOST_GROUPED if self.groups else MAX_LEVELS
        texts = all(map(_is_text, levels))
        if not texts or not 2 <= len(levels) <= most or len(set(levels)) < len(levels):
            yield f"needs a list of 2 to {most} levels, each a different text"
        members = [word for _, group in self.groups for word, _ in group]
        if len(set(members)) < len(members) or not {*members} <= {*levels}:
            yield "has groups that share a level, or contain an unknown level"
        if not all(_is_name(name) and group for name, group in self.groups):
            yield "has a group without a name or without levels"
        labels = self.labels
        if not 2 <= len(labels) <= MAX_LEVELS or len({*labels}) < len(labels):
            yield f"needs groups that make 2 to {MAX_LEVELS} levels of different names"
        if any(name in levels and name not in dict(group) for name, group in self.groups):
            yield "has a group with the name of a level outside of it"
        if self.bounds is not None or self.cuts:
            yield "has levels; bounds and cuts are for numeric columns"
        if self.other is not None and self.other not in labels:
            yield "has an other value that is not one of its levels"
        if self.take in ADDED:
            yield f"has no {self.take}, which is a number; give cuts or bounds"

    def _wrong_numbers(self) -> Iterator[str]:
        bounds, numbers = self.bounds, (*(self.bounds or ()), *self.cuts)
        if self.levels or self.groups or not (self.cuts or bounds):
            yield "is numeric: it needs cuts, or bounds and bins, and no levels"
        if not all(is_number(number) and abs(number) < HUGE for number in numbers):
            yield f"has a bound or cut that is not a number below {HUGE:g}"
        if bounds is not None and (len(bounds) != 2 or not bounds[0] < bounds[1]):
            yield "needs bounds (two numbers, the lower one first)"
        if bounds and self.cuts and not bounds[0] < min(self.cuts) <= max(self.cuts) < bounds[1]:
            yield "has cuts outside of its bounds"
        if type(self.bins) is not int or not 2 <= self.size <= MAX_LEVELS:
            yield f"needs bins or cuts that make 2 to {MAX_LEVELS} levels, one for gaps among them"
        if (np.diff(self.points()) <= 0).any():
            yield "has cuts that do not increase, or bounds too close for its bins"
        if self.other not in (None, LEVEL) and not is_number(self.other):
            yield f'has an other value that is neither a number nor "{LEVEL}"'
        if self.take == "count" and self.other is not None:
            yield "counts rows and has no other value; leave it out"

    @property
    def size(self) -> int:
        """The number of levels, computed without naming them."""
        if self.type != "numeric":
            return len(self.labels)
        return (len(self.cuts) + 1 if self.cuts else self.bins) + (self.other == LEVEL)

    @property
    def labels(self) -> tuple[str, ...]:
        """The levels in code order."""
        if self.groups:
            grouped = {word for _, group in self.groups for word, _ in group}
            names = (name for name, _ in self.groups)
            return (*names, *(word for word in self.levels if word not in grouped))
        if self.type != "numeric":
            return self.levels
        gap = (MISSING_LEVEL,) if self.other == LEVEL else ()
        return (*interval_labels(self.points()), *gap)

    @property
    def words(self) -> tuple[tuple[int, str], ...]:
        """The texts that are read as a level, each with the level's code; the levels come first."""
        codes = {word: code for code, word in enumerate(self.labels)}
        codes |= {w: codes[name] for name, group in self.groups for w, _ in group}
        return tuple((codes[w], w) for w in dict.fromkeys((*self.levels, *codes)))

    @property
    def numbers(self) -> tuple[float | None, ...]:
        """The public number of each level: the declared one, or the midpoint of its interval."""
        stated = dict(self.values)
        if self.type == "numeric" and self.bounds is not None:
            edges = [self.bounds[0], *self.points(), self.bounds[1]]
            middles = ((a + b) / 2 for a, b in pairwise(edges))
            stated = dict(zip(self.labels, middles, strict=False)) | stated
        return tuple(stated.get(label) for label in self.labels)

    @property
    def other_code(self) -> int | None:
        """The code of an unmatched value, or None if a table with one is refused."""
        if self.other is None:
            return None
        if self.type == "numeric" and self.other != LEVEL:
            return int(np.searchsorted(self.points(), float(self.other), side="right"))
        return self.labels.index(MISSING_LEVEL if self.type == "numeric" else str(self.other))

    @property
    def has_gap_level(self) -> bool:
        """True if ``other`` is a level for missing values."""
        return self.other is not None and self.labels[self.other_code or 0] in GAP_LEVELS

    def points(self) -> list[float]:
        """Return the lowest value of each level of a numeric column, except the first."""
        if self.bounds is None or self.cuts:
            return [float(cut) for cut in self.cuts]
        low, high = map(float, self.bounds)
        return [float(cut) for cut in np.linspace(low, high, self.bins + 1)[1:-1]]


def interval_labels(cuts: Sequence[float] | np.ndarray) -> tuple[str, ...]:
    """Return the labels of the k + 1 levels between k cut points: "< a", "[a, b)", ">= b"."""
    points = [f"{cut:.6g}" for cut in cuts]
    if len(set(points)) < len(points):  # six digits do not distinguish them
        points = [repr(float(cut)) for cut in cuts]
    inner = [f"[{low}, {high})" for low, high in pairwise(points)]
    return (f"< {points[0]}", *inner, f">= {points[-1]}")


def listed(value: Any, what: str) -> tuple[Any, ...] | None:
    """Return a collection of texts or numbers as a tuple of plain Python values."""
    if value is None:
        return None
    if isinstance(value, str | Mapping | set) or not isinstance(value, Iterable):
        raise InputError(f'"{what}" in a schema is a list.')
    return tuple(one.item() if isinstance(one, np.generic) else one for one in value)


def _paired(value: Any, what: str) -> tuple[Any, ...]:
    """Return an object in a schema as pairs; a list of a group's levels means equal shares."""
    fault = f'"{what}" in a schema is an object: by name a list of levels, or numbers by level.'
    try:
        pairs = dict(value)
        if what == "groups":
            for name, held in pairs.items():
                alike = not isinstance(held, Mapping | str) and all(
                    isinstance(w, str) for w in held
                )
                pairs[name] = tuple((dict.fromkeys(held, 1) if alike else dict(held)).items())
    except (TypeError, ValueError):
        raise InputError(fault) from None
    numbers = (
        [n for held in pairs.values() for _, n in held] if what == "groups" else pairs.values()
    )
    if not all(is_number(number) and (what == "values" or number > 0) for number in numbers):
        raise InputError(fault)
    return tuple(pairs.items())


def _is_name(value: Any) -> bool:
    return _is_text(value) and bool(value.strip())


def _is_text(value: Any) -> bool:
    """Return whether it can be a name or a level: text of limited length that a file can store."""
    return isinstance(value, str) and len(value) <= MOST_TEXT and writable(value)


@dataclass(frozen=True, kw_only=True)
class Person:
    """Column that identifies the person a row belongs to: ``id`` names it; it is never output.

    ``order`` names the column of numbers or ISO dates that sorts a person's rows. It need not be in
    the schema. Raises InputError if a name is not a valid text.

    Examples:
        >>> Person(id="patient", order="visited")
        Person(id='patient', order='visited')
    """

    id: str
    order: str | None = None

    def __post_init__(self) -> None:
        if not _is_name(self.id) or not (self.order is None or _is_name(self.order)):
            raise InputError(f"A person's id and order name columns; a {_NAMED}.")


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """The way text is written; no record influences it.

    ``encoding`` is "utf-8", "utf-16" or "latin-1". ``delimiter=None`` chooses the one that splits
    the header line into most names. ``decimal`` is "." or ",". ``date`` is a format as "%d/%m/%Y"
    for dates that are not in ISO 8601.
    """

    encoding: str = "utf-8"
    delimiter: str | None = None
    decimal: str = "."
    date: str | None = None

    def __post_init__(self) -> None:
        for what, known in _WRITTEN.items():
            if (value := getattr(self, what)) not in known:
                words = ", ".join(repr(word) for word in known if word)
                raise InputError(f"The {what} of a table is one of {words}, not {show(value)}.")

    def said(self, options: Mapping[str, str | None]) -> Dialect:
        """Return the dialect with these options changed; InputError for an unknown option."""
        for word in options:
            if word not in _WRITTEN:
                raise InputError(
                    f"A table is not read with {word!r}. Declare the levels of its columns in a "
                    "schema: Schema.draft(table).declare(...)."
                    f"{did_you_mean(word, [*_WRITTEN, 'schema', 'truth', 'name'])}"
                )
        return replace(self, **{word: said for word, said in options.items() if said is not None})


_WRITTEN = {
    "encoding": ("utf-8", "utf-16", "latin-1"),
    "delimiter": (None, *DELIMITERS),
    "decimal": (".", ","),
    "date": (None, *DATES),
}
PLAIN = Dialect()


def repeated(names: Sequence[str]) -> str:
    """Return the first name that occurs a second time; StopIteration if all are different."""
    return next(name for i, name in enumerate(names) if name in names[:i])


# Shared by a reader and a table -------------------------------------------------------------

ASKED = 0.05  # share of a column's cells: if more of them count as an answer, the user must confirm


@dataclass(frozen=True)
class Unforeseen:
    """A column's unmatched values: exact facts about private rows, only for their owner.

    ``cells`` of the column's ``of`` cells are unmatched, and ``looks`` shows some of them. ``to``
    is the level they count as, or None if the schema declares none. ``empty`` marks the record of
    missing values, which is separate; ``foreseen`` is true if the level exists for them.
    """

    column: str
    cells: int
    of: int
    to: str | None
    looks: tuple[str, ...] = field(default=(), repr=False)
    empty: bool = False
    foreseen: bool = False

    @property
    def asks(self) -> bool:
        """Return whether so many cells count as an answer that the user must confirm."""
        return not self.foreseen and self.cells > ASKED * self.of

    @property
    def share(self) -> str:
        """The percentage of the column's cells."""
        return f"{number(100 * self.cells / self.of, 2)} %"

    @property
    def look(self) -> str:
        """Return a description for the owner of the rows."""
        return "(empty)" if self.empty else ", ".join(self.looks)

    def __str__(self) -> str:
        """Return a sentence that quotes no cell."""
        are = f"({self.share}) are {'empty' if self.empty else 'no level'}"
        to = "" if self.to is None else f" and count as {self.to!r}"
        return f"{show(self.column)}: {self.cells:,} of {self.of:,} cells {are}{to}"
