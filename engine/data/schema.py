"""A declared schema: what a person states about a table as public facts, kept in a JSON file.

A guarantee is about a record's values; the schema counts as public, so it must not be read off the
records. A column that the schema does not name is not read. What a cell means is a function of that
cell and of the schema (:mod:`engine.data.intake`); a cell that matches no level counts as the
column's ``other``, and where none is stated such a table is refused.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from engine.data.column import (
    LEVEL,
    MOST_COLUMNS,
    PLAIN,
    TAKES,
    TEMPLATES,
    Column,
    Dialect,
    Person,
    repeated,
)
from engine.errors import DataError, InputError, did_you_mean, show
from engine.knowledge import Knowledge, parse_knowledge, write_json

__all__ = ["LEVEL", "Column", "Person", "Schema", "load_schema", "parse_schema"]

FORMAT, VERSION = "dp-causal-explorer/schema", 1
MOST_BYTES = 5_000_000
_TOP = ("format", "version", "rows", "person", "dialect", "columns", "knowledge")
_LISTS = ("levels", "bounds", "cuts")


class _Named(type):
    """Says what there is in the place of a name that is often tried."""

    def __getattr__(cls, name: str) -> Any:
        hint = did_you_mean(name, ["draft", "state", "keep", "by_person", "save", "to_json"])
        if name in ("infer", "from_frame", "from_csv", "fit"):
            hint = " Did you mean 'draft'?"
        raise AttributeError(f"Schema has no {name!r}.{hint}")


@dataclass(frozen=True)
class Schema(metaclass=_Named):
    """The columns used, in order, and the public number of rows where it is stated.

    With a ``person`` a record is a person, not a row: every column says how a person's rows become
    one, and ``rows`` is the number of persons. ``knowledge`` is what is stated of the columns'
    causes, ``dialect`` how text is written. ``left_out``, of a draft, says of columns that it has
    not why, and what they might be. Raises InputError for fewer than two columns, a name that
    occurs twice, rows below 2, rules for persons that do not fit together, or knowledge of a
    column that there is not.

    Examples:
        >>> stage = Column(name="stage", type="ordered", levels=("I", "II", "III"))
        >>> smokes = Column(name="smokes", type="unordered", levels=("no", "yes"))
        >>> Schema((stage, smokes), rows=3_000).levels
        (('I', 'II', 'III'), ('no', 'yes'))
    """

    columns: tuple[Column, ...]
    rows: int | None = None
    person: Person | None = None
    knowledge: Knowledge | None = None
    dialect: Dialect = PLAIN
    left_out: tuple[tuple[str, str], ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        names = self.names
        if not 2 <= len(names) <= MOST_COLUMNS:
            raise InputError(f"A schema needs 2 to {MOST_COLUMNS:,} columns; it has {len(names)}.")
        if len(set(names)) < len(names):
            raise InputError(f"The schema names column {show(repeated(names))} twice; delete one.")
        if self.rows is not None and (
            isinstance(self.rows, bool) or not isinstance(self.rows, int) or self.rows < 2
        ):
            raise InputError("The rows of a schema are a whole number of at least 2, or left out.")
        for column in self.columns:
            _check_person(column, self.person)
        if self.knowledge is not None:
            self.knowledge.check_names(names)

    def __str__(self) -> str:
        """A line a column, and why the others are left out."""
        lines = [
            f"{c.name}: {' | '.join(c.labels)}" + ("" if c.stated else " (not stated)")
            for c in self.columns
        ]
        return "\n".join([*lines, *(f"{name}: left out, {why}" for name, why in self.left_out)])

    @classmethod
    def draft(cls, source: Any, **options: Any) -> Schema:
        """What the rows themselves look like, to be stated column by column; not public.

        Its columns are marked as not stated, and nothing is defended of what they read. Columns
        that can be no levels (ids, dates, free text, one value only) are left out; ``left_out``
        says why, and what to do.

        Args:
            source: A frame or a file, as for :func:`engine.read_table`.
            options: ``query``, ``sheet``, ``encoding``, ``decimal`` or ``thousands``, as there.

        Returns:
            A schema with the levels found in all rows, and cut points of the first 50,000.

        Raises:
            InputError: In one sentence for a table that is none, or without two columns of use.

        Examples:
            >>> import pandas as pd
            >>> frame = pd.DataFrame({"age": [31, 47, 68], "smokes": ["yes", "no", "no"]})
            >>> schema = Schema.draft(frame)
            >>> schema.waiting
            ('age', 'smokes')
            >>> schema.state("smokes", age={"cuts": [40, 55]}).waiting
            ()
        """
        from engine.data.draft import survey

        found, dialect = survey(source, **options)
        left_out = tuple((one.name, why) for one in found if (why := one.why_out()) is not None)
        columns = tuple(column for one in found if (column := one.proposed()) is not None)
        if len(columns) < 2:
            said = "; ".join(f"{show(name)}: {why}" for name, why in left_out[:3])
            raise DataError(f"The table has fewer than two columns that can be levels ({said}).")
        return cls(columns, dialect=dialect, left_out=left_out)

    def state(self, *as_found: str, **facts: Any) -> Schema:
        """The same, with some columns stated from what is known of the world and not of the rows.

        A column's level for missing values, and what else counts as it, stay unless ``other`` is
        said anew. A column that the draft left out is taken in by its facts.

        Args:
            as_found: Columns whose facts are right as they stand.
            facts: By column: its levels in order, fields of :class:`Column` (such as "cuts"), or a
                template's name (:data:`TEMPLATES`).

        Raises:
            InputError: For a column that there is not, or facts that do not fit.
        """
        out = dict(self.left_out)
        for name in (*as_found, *facts):
            if name not in self.names and name not in (out if name in facts else ()):
                hint = did_you_mean(str(name), [*self.names, *out])
                why = f": {out[name]}" if name in out else ""
                raise InputError(f"The schema has no column {show(name)} to state{why}.{hint}")
        told = {name: _facts(name, said) for name, said in facts.items()}
        columns = [
            _restated(column, told[column.name])
            if column.name in told
            else replace(column, stated=column.stated or column.name in as_found)
            for column in self.columns
        ]
        columns += [_column(name, told[name]) for name in told if name not in self.names]
        left = tuple(pair for pair in self.left_out if pair[0] not in told)
        return replace(self, columns=tuple(columns), left_out=left)

    def keep(self, *names: str) -> Schema:
        """The same with these columns alone, in the order given; InputError for one it has not."""
        by_name = {column.name: column for column in self.columns}
        for name in names:
            if name not in by_name:
                hint = did_you_mean(str(name), by_name)
                raise InputError(f"The schema has no column {show(name)} to keep.{hint}")
        return replace(self, columns=tuple(by_name[name] for name in names))

    def by_person(self, id: str, order: str | None = None, **takes: str) -> Schema:
        """The same with persons as records.

        Args:
            id: The column that says whose a row is; it need not be one of the schema's.
            order: The column of numbers or ISO dates by which rows are first and last.
            takes: By column, how a person's rows become one (:data:`TAKES`).

        Raises:
            InputError: Where a column is left without a rule, or a rule does not fit.

        Examples:
            >>> two = {"type": "ordered", "levels": ("no", "yes")}
            >>> schema = Schema((Column(name="smokes", **two), Column(name="coughs", **two)))
            >>> schema.by_person("patient", smokes="any", coughs="most").person.id
            'patient'
        """
        for name in takes:
            if name not in self.names:
                hint = did_you_mean(name, self.names)
                raise InputError(f"The schema has no column {show(name)} to take.{hint}")
        columns = (
            replace(column, take=takes.get(column.name, column.take))
            for column in self.columns
            if column.name not in (id, order) or column.name in takes
        )
        return replace(self, columns=tuple(columns), person=Person(id=id, order=order))

    @property
    def waiting(self) -> tuple[str, ...]:
        """The columns whose facts were found in the data and not stated."""
        return tuple(column.name for column in self.columns if not column.stated)

    @property
    def what(self) -> str:
        """What a record is called: "rows" or "persons"."""
        return "rows" if self.person is None else "persons"

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
            if column.bounds is None:
                del facts["bins"]
            if column.stated:
                del facts["stated"]
            columns.append({k: list(v) if isinstance(v, tuple) else v for k, v in facts.items()})
        top: dict[str, Any] = {} if self.rows is None else {"rows": self.rows}
        if self.person is not None:
            top["person"] = {k: v for k, v in asdict(self.person).items() if v is not None}
        if self.dialect != PLAIN:
            plain = asdict(PLAIN)
            top["dialect"] = {k: v for k, v in asdict(self.dialect).items() if v != plain[k]}
        known = {"knowledge": self.knowledge.to_json()} if self.knowledge else {}
        return {"format": FORMAT, "version": VERSION, **top, "columns": columns, **known}

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the schema's JSON file; InputError where it is there already or cannot be written.

        ``overwrite`` replaces a file that is there, as a notebook that is run again wants it.
        """
        write_json(self.to_json(), path, overwrite=overwrite)


def _check_person(column: Column, person: Person | None) -> None:
    shown = show(column.name)
    if person is None and column.take is not None:
        raise InputError(
            f"Column {shown} says how a person's rows become one, but the schema names no "
            'person: "person": {"id": the column of ids}.'
        )
    if person is None:
        return
    if column.name == person.id:
        raise InputError(f"Column {shown} says whose a row is and is given out nowhere.")
    if column.take is None:
        raise InputError(
            f'Say how a person\'s rows become one in column {shown}: "take" is one of '
            f"{', '.join(TAKES)}."
        )
    if column.take in ("first", "last") and person.order is None:
        raise InputError(
            f"The {column.take} row of a person for column {shown} needs the column that "
            'orders them: "order" of the person.'
        )


# From what a person says to columns -----------------------------------------------------------


def _facts(name: str, said: Any) -> dict[str, Any]:
    """Fields of a column from what a person says of it: levels, fields, or a template's name."""
    if isinstance(said, str):
        if said not in TEMPLATES:
            hint = did_you_mean(said, TEMPLATES)
            raise InputError(
                f"There is no template {show(said)}; there are {', '.join(TEMPLATES)}.{hint}"
            )
        said = TEMPLATES[said]
    if isinstance(said, Mapping):
        facts = {str(key): value for key, value in said.items()}
        fields = [key for key in Column.__dataclass_fields__ if key not in ("name", "stated")]
        _refuse_unknown(facts, fields, f"Column {show(name)}")
    elif isinstance(said, Iterable):
        facts = {"levels": said}
    else:
        raise InputError(f"Say of column {show(name)} its levels, its cuts or a template.")
    for key in _LISTS:
        if key in facts:
            facts[key] = _as_tuple(facts[key], key)
    if "levels" in facts:
        facts["levels"] = tuple(map(str, facts["levels"]))
    return facts


def _as_tuple(value: Any, key: str) -> tuple[Any, ...]:
    if isinstance(value, str | Mapping) or not isinstance(value, Iterable):
        raise InputError(f'"{key}" in a schema is a list.')
    return tuple(v.item() if isinstance(v, np.generic) else v for v in value)


def _column(name: str, facts: dict[str, Any]) -> Column:
    """A stated column; its type follows from its facts where it is not said."""
    numeric = "cuts" in facts or "bounds" in facts
    return Column(**{"name": name, "type": "numeric" if numeric else "ordered", **facts})


def _restated(column: Column, facts: dict[str, Any]) -> Column:
    """A column with some facts said anew; the level of empty cells stays."""
    gap = str(column.labels[column.other_code or 0]) if column.has_gap_level else None
    kept: dict[str, Any] = {"take": column.take, "part": column.part}
    if "cuts" in facts or "bounds" in facts or facts.get("type") == "numeric":
        kept["type"] = "numeric"
        kept["other"] = LEVEL if gap else column.other if column.type == "numeric" else None
        if "bins" in facts and "bounds" not in facts and column.bounds is not None:
            kept["bounds"] = column.bounds
    elif "levels" in facts:
        kept["type"] = column.type if column.type != "numeric" else "ordered"
        if column.other in facts["levels"]:
            kept["other"] = column.other
        elif gap and facts.get("other") is None:
            facts = {**facts, "levels": (*facts["levels"], gap), "other": gap}
    else:
        kept = {k: v for k, v in asdict(column).items() if k not in ("name", "stated")}
    return _column(column.name, {**kept, **facts})


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
    person, dialect = content.get("person"), content.get("dialect", {})
    if person is not None and not (isinstance(person, Mapping) and "id" in person):
        raise InputError('The "person" of a schema is an object such as {"id": "patient"}.')
    if not isinstance(dialect, Mapping):
        raise InputError('The "dialect" of a schema is an object such as {"decimal": ","}.')
    _refuse_unknown(person or {}, tuple(Person.__dataclass_fields__), "The person of a schema")
    _refuse_unknown(dialect, tuple(Dialect.__dataclass_fields__), "The dialect of a schema")
    return Schema(
        tuple(map(_parse_column, columns)),
        content.get("rows"),
        None if person is None else Person(**person),
        None if known is None else parse_knowledge(known),
        Dialect(**dialect),
    )


def _parse_column(content: Any) -> Column:
    if not isinstance(content, Mapping):
        raise InputError('Every column of a schema is an object such as {"name": "age", ...}.')
    _refuse_unknown(content, tuple(Column.__dataclass_fields__), "A column of a schema")
    for key in ("name", "type"):
        if key not in content:
            raise InputError(f'A column of the schema has no "{key}".')
    facts = dict(content)
    for key in _LISTS:
        if key in facts:
            if not isinstance(facts[key], list):
                raise InputError(f'"{key}" in a schema is a list.')
            facts[key] = tuple(facts[key])
    return Column(**facts)


def _refuse_unknown(content: Mapping[str, Any], known: Sequence[str], what: str) -> None:
    for key in content:
        if key not in known:
            raise InputError(
                f"{what} has no field {show(str(key))}; it has {', '.join(known)}."
                f"{did_you_mean(str(key), known)}"
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
    if len(raw) > MOST_BYTES:
        raise InputError(f"A schema has at most {MOST_BYTES // 1_000_000} MB; this one is larger.")
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
            return file.read(MOST_BYTES + 1)
    except (OSError, ValueError):
        raise InputError(f"There is no schema to read at {show(str(path))}; check it.") from None


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise InputError("The schema states one field twice; delete one of them.")
    return found
