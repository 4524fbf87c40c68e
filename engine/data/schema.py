"""A declared schema: what a person states about a table as public facts, kept in a JSON file.

A guarantee is about a record's values; the schema counts as public, so it must not be read off the
records. A column that the schema does not name is not read. A cell that the schema does not foresee
(an undeclared level, a missing value, text among numbers) counts as the column's ``other`` value, a
public rule. Where the rule is not said, a word counts as the first level; a cell without a number
is refused, because no number stands for none (and the refusal tells that such a record is there).
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from engine.data.levels import MAX_LEVELS, MISSING_LEVEL, interval_labels
from engine.data.numerals import HUGE, Numbers
from engine.data.spreadsheets import safe, unsafe
from engine.errors import DataError, InputError, did_you_mean, show
from engine.knowledge import Knowledge, parse_knowledge

FORMAT, VERSION = "dp-causal-explorer/schema", 1
TYPES = ("ordered", "unordered", "numeric")
MOST_COLUMNS = 1_000
_MOST_BYTES = 5_000_000
_MOST_TEXT = 200
LEVEL = "level"  # of a numeric column's ``other``: no number is a level of its own
REFUSED = 255  # the code of a cell without a number where nothing is said of it
_TOP = ("format", "version", "rows", "columns", "knowledge")
_FIELDS = ("name", "type", "levels", "bounds", "bins", "other")


@dataclass(frozen=True, kw_only=True)
class Column:
    """One column's public facts.

    ``type`` "ordered" or "unordered": ``levels`` in their order (of an unordered column it is only
    a listing; rank tests still use it). "numeric": ``bounds`` (lowest, highest) cut into ``bins``
    of equal width, values outside clipped to them. ``other`` is what an unforeseen cell counts as:
    a level (the first by default); of a numeric column a number, or "level" for a level of its own,
    the last. A numeric column that does not say it refuses cells without a number. Raises
    InputError for facts that do not fit together.

    Examples:
        >>> Column(name="age", type="numeric", bounds=(0, 100), bins=2, other="level").labels
        ('< 50', '>= 50', 'missing')
    """

    name: str
    type: str
    levels: tuple[str, ...] = ()
    bounds: tuple[float, float] | None = None
    bins: int = 5
    other: str | float | None = None

    def __post_init__(self) -> None:
        _check_name(self.name)
        if self.type not in TYPES:
            raise InputError(
                f"The type of column {show(self.name)} is one of {', '.join(TYPES)}, not "
                f"{show(str(self.type))}."
            )
        (_check_numeric if self.type == "numeric" else _check_levels)(self)

    @property
    def size(self) -> int:
        """How many levels there are, without naming them."""
        if self.type != "numeric":
            return len(self.levels)
        return self.bins + (self.other == LEVEL)

    @property
    def labels(self) -> tuple[str, ...]:
        """The levels in code order."""
        if self.type != "numeric":
            return self.levels
        gap = (MISSING_LEVEL,) if self.other == LEVEL else ()
        return (*interval_labels(np.array(self.cuts())), *gap)

    def cuts(self) -> list[float]:
        """Where the bins of a numeric column begin, but for the lowest."""
        assert self.bounds is not None
        return [float(cut) for cut in np.linspace(*self.bounds, self.bins + 1)[1:-1]]

    def codes(self, words: list[str], numbers: Numbers) -> np.ndarray:
        """The code of each word (cells are stripped), whatever they are; or REFUSED."""
        if self.type != "numeric":
            # Also as a file of ours has them, which a spreadsheet may open.
            position = {safe(level): k for k, level in enumerate(self.levels)}
            position |= {level: k for k, level in enumerate(self.levels)}
            rest = 0 if self.other is None else position[str(self.other)]
            return np.array([position.get(w, rest) for w in words], dtype=np.uint8)
        values = self.values(words, numbers)
        found = np.searchsorted(self.cuts(), values, side="right")
        found[np.isnan(values)] = REFUSED if self.other is None else self.bins
        return found.astype(np.uint8)  # there are at most 64 levels

    def values(self, words: list[str], numbers: Numbers) -> np.ndarray:
        """The number of each word within the bounds; NaN where none is said to stand for it."""
        assert self.bounds is not None
        rest = self.other if isinstance(self.other, int | float) else math.nan
        pattern = numbers.pattern()
        found = [numbers.value(w) if pattern.fullmatch(w) else rest for w in words]
        return np.asarray(np.clip(np.array(found, dtype=float), *self.bounds))


def without_number(name: str) -> DataError:
    """What to say of a column that holds a cell without a number where the schema says nothing."""
    return DataError(
        f"Column {show(name)} has a missing number; say in the schema what it counts as: "
        f'"other": "{LEVEL}" for a level of its own, or a number.'
    )


def _check_name(name: Any) -> None:
    if not isinstance(name, str) or not name.strip() or len(name) > _MOST_TEXT:
        raise InputError(
            f"Every column of a schema needs a name: text of 1 to {_MOST_TEXT} characters."
        )


def _check_levels(column: Column) -> None:
    shown, levels = show(column.name), column.levels
    texts = all(isinstance(level, str) and len(level) <= _MOST_TEXT for level in levels)
    if not texts or not 2 <= len(levels) <= MAX_LEVELS or len(set(levels)) < len(levels):
        raise InputError(
            f"Column {shown} needs a list of 2 to {MAX_LEVELS} levels, each a different text."
        )
    if column.bounds is not None:
        raise InputError(f"Column {shown} has levels; bounds are for numeric columns.")
    if column.other is not None and column.other not in levels:
        raise InputError(f"The other value of column {shown} must be one of its levels.")


def _check_numeric(column: Column) -> None:
    shown, bounds = show(column.name), column.bounds
    if column.levels:
        raise InputError(f"Column {shown} is numeric; give bounds and bins, not levels.")
    pair = isinstance(bounds, tuple) and len(bounds) == 2 and all(map(_is_number, bounds))
    if not pair or not -HUGE < bounds[0] < bounds[1] < HUGE:  # type: ignore[index]
        raise InputError(f"Column {shown} needs bounds: two numbers, the lower one first.")
    if isinstance(column.bins, bool) or not isinstance(column.bins, int):
        raise InputError(f"The bins of column {shown} must be a whole number.")
    if not 2 <= column.bins <= MAX_LEVELS:
        raise InputError(f"The bins of column {shown} must be from 2 to {MAX_LEVELS}.")
    if (np.diff(column.cuts()) <= 0).any():
        raise InputError(f"The bounds of column {shown} are too close for {column.bins} bins.")
    if column.other == LEVEL and column.bins == MAX_LEVELS:
        raise InputError(f"Column {shown} has {MAX_LEVELS} bins and no room for a level of gaps.")
    if column.other not in (None, LEVEL) and not _is_number(column.other):
        raise InputError(
            f'The other value of the numeric column {shown} must be a number, or "{LEVEL}".'
        )


def _is_number(value: Any) -> bool:
    real = isinstance(value, int | float) and not isinstance(value, bool)
    return real and math.isfinite(value)


@dataclass(frozen=True)
class Schema:
    """The columns used, in order, and the public number of rows where it is stated.

    ``knowledge`` is what is stated of the columns' causes. Raises InputError for fewer than two
    columns, a name that occurs twice, rows below 2, or knowledge of a column that there is not.

    Examples:
        >>> stage = Column(name="stage", type="ordered", levels=("I", "II", "III"))
        >>> smokes = Column(name="smokes", type="unordered", levels=("no", "yes"))
        >>> Schema((stage, smokes), rows=3_000).levels
        (('I', 'II', 'III'), ('no', 'yes'))
    """

    columns: tuple[Column, ...]
    rows: int | None = None
    knowledge: Knowledge | None = None

    def __post_init__(self) -> None:
        names = self.names
        if not 2 <= len(names) <= MOST_COLUMNS:
            raise InputError(f"A schema needs 2 to {MOST_COLUMNS:,} columns; it has {len(names)}.")
        if len(set(names)) < len(names):
            twice = next(name for i, name in enumerate(names) if name in names[:i])
            raise InputError(f"The schema names column {show(twice)} twice; delete one.")
        if self.rows is not None and (
            isinstance(self.rows, bool) or not isinstance(self.rows, int) or self.rows < 2
        ):
            raise InputError("The rows of a schema are a whole number of at least 2, or left out.")
        if self.knowledge is not None:
            self.knowledge.check_names(names)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names."""
        return tuple(column.name for column in self.columns)

    @property
    def levels(self) -> tuple[tuple[str, ...], ...]:
        """Each column's levels in code order."""
        return tuple(column.labels for column in self.columns)

    def to_json(self) -> dict[str, Any]:
        """The file's content."""
        columns = []
        for column in self.columns:
            facts = {k: v for k, v in asdict(column).items() if v not in (None, ())}
            if column.type != "numeric":
                del facts["bins"]
            columns.append({k: list(v) if isinstance(v, tuple) else v for k, v in facts.items()})
        rows = {} if self.rows is None else {"rows": self.rows}
        known = {"knowledge": self.knowledge.to_json()} if self.knowledge else {}
        return {"format": FORMAT, "version": VERSION, **rows, "columns": columns, **known}

    def check_rows(self, n: int, label: str) -> None:
        """Refuse a table of another number of rows; n is a public fact."""
        if self.rows is not None and n != self.rows:
            raise DataError(f"{label} has {n:,} rows but the schema states {self.rows:,}.")

    def places(self, names: Sequence[str], label: str) -> list[int]:
        """Where the file's columns are that the schema names, in its order."""
        at = {unsafe(name): k for k, name in reversed(list(enumerate(names)))}
        at |= {name: k for k, name in reversed(list(enumerate(names)))}
        for name in self.names:
            if name not in at:
                hint = did_you_mean(name, [n for n in names if n])
                raise DataError(
                    f"{label} has no column {show(name)}, which the schema names.{hint}"
                )
        return [at[name] for name in self.names]

    def coders(self, numbers: Numbers) -> list[Callable[[list[str]], np.ndarray]]:
        """For each column what makes codes of words; ``numbers`` says how numbers are written."""
        return [partial(column.codes, numbers=numbers) for column in self.columns]


def parse_schema(content: Any) -> Schema:
    """A schema from the JSON value of its file; InputError in one sentence for anything else."""
    if not isinstance(content, Mapping) or content.get("format") != FORMAT:
        raise InputError(f'This is no schema: its JSON needs "format": "{FORMAT}".')
    if content.get("version") != VERSION:
        raise InputError(f"This program reads version {VERSION} of a schema; write that version.")
    _refuse_unknown(content, _TOP, "A schema")
    columns = content.get("columns")
    if not isinstance(columns, list):
        raise InputError('A schema needs "columns": a list with one object a column.')
    known = content.get("knowledge")
    return Schema(
        tuple(map(_parse_column, columns)),
        content.get("rows"),
        None if known is None else parse_knowledge(known),
    )


def _parse_column(content: Any) -> Column:
    if not isinstance(content, Mapping):
        raise InputError('Every column of a schema is an object such as {"name": "age", ...}.')
    _refuse_unknown(content, _FIELDS, "A column of a schema")
    for field in ("name", "type"):
        if field not in content:
            raise InputError(f'A column of the schema has no "{field}".')
    facts = dict(content)
    for field in ("levels", "bounds"):
        if field in facts:
            if not isinstance(facts[field], list):
                raise InputError(f'"{field}" in a schema is a list.')
            facts[field] = tuple(facts[field])
    return Column(**facts)


def _refuse_unknown(content: Mapping[str, Any], known: Sequence[str], what: str) -> None:
    for field in content:
        if field not in known:
            raise InputError(
                f"{what} has no field {show(str(field))}; it has {', '.join(known)}."
                f"{did_you_mean(str(field), known)}"
            )


def load_schema(source: str | os.PathLike[str] | bytes) -> Schema:
    """Read a schema's JSON file.

    Args:
        source: Its path, or its bytes.

    Raises:
        InputError: In one sentence where it is none.

    Examples:
        >>> column = '{"name": "%s", "type": "ordered", "levels": ["no", "yes"]}'
        >>> columns = ", ".join(column % name for name in ("smokes", "coughs"))
        >>> head = '{"format": "dp-causal-explorer/schema", "version": 1, '
        >>> load_schema(f'{head}"columns": [{columns}]}}'.encode()).names
        ('smokes', 'coughs')
    """
    raw = source if isinstance(source, bytes) else _read(Path(source))
    if len(raw) > _MOST_BYTES:
        raise InputError(f"A schema has at most {_MOST_BYTES // 1_000_000} MB; this one is larger.")
    try:
        content = json.loads(raw.decode("utf-8-sig"), object_pairs_hook=_without_repeats)
    except InputError:
        raise
    except (ValueError, RecursionError):
        raise InputError("The schema is not JSON in UTF-8; write it anew or correct it.") from None
    return parse_schema(content)


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_MOST_BYTES + 1)
    except (OSError, ValueError):
        raise InputError(f"There is no schema to read at {show(str(path))}; check it.") from None


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise InputError("The schema states one field twice; delete one of them.")
    return found
