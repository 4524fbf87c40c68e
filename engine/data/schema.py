"""A declared schema: what a person states about a table as public facts, kept in a JSON file.

A guarantee is about a record's values; the schema counts as public, so it must not be read off the
records. A column that the schema does not name is not read. A cell that the schema does not foresee
(an undeclared level, a missing value, text among numbers) counts as the column's ``other`` value, a
public rule. Where the rule is not said, a word counts as the first level; a cell without a number
is refused, because no number stands for none (and the refusal tells that such a record is there).
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from engine.data import templates
from engine.data.column import LEVEL, MOST_TEXT, TAKES, TYPES, Column, is_text
from engine.data.numerals import Numbers
from engine.data.spreadsheets import unsafe
from engine.errors import DataError, InputError, did_you_mean, show
from engine.knowledge import Knowledge, parse_knowledge

__all__ = ["LEVEL", "TYPES", "Column", "Person", "Schema", "load_schema", "parse_schema"]

FORMAT, VERSION = "dp-causal-explorer/schema", 1
MOST_COLUMNS = 1_000
MOST_BYTES = 5_000_000
_TOP = ("format", "version", "rows", "person", "columns", "knowledge")
_PERSON = ("id", "order")
_FIELDS = ("name", "type", "levels", "bounds", "bins", "cuts", "other", "take", "stated")
_LISTS = ("levels", "bounds", "cuts")


@dataclass(frozen=True, kw_only=True)
class Person:
    """Whose a row is: ``id`` names the column that says so, which is given out nowhere.

    ``order`` names the column of numbers or ISO dates by which a person's rows are first and last;
    it need not be among the schema's. Raises InputError for names that are none.
    """

    id: str
    order: str | None = None

    def __post_init__(self) -> None:
        for name in (self.id, *([] if self.order is None else [self.order])):
            if not is_text(name) or not name.strip():
                raise InputError(
                    f"A person's id and order are names of columns: 1 to {MOST_TEXT} characters."
                )


@dataclass(frozen=True)
class Schema:
    """The columns used, in order, and the public number of rows where it is stated.

    With a ``person`` a record is a person, not a row: every column says how a person's rows become
    one, and ``rows`` is the number of persons. ``knowledge`` is what is stated of the columns'
    causes. Raises InputError for fewer than two columns, a name that occurs twice, rows below 2,
    rules for persons that do not fit together, or knowledge of a column that there is not.

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
        _check_person(self)
        if self.knowledge is not None:
            self.knowledge.check_names(names)

    @classmethod
    def draft(cls, source: Any, **options: Any) -> Schema:
        """What the rows themselves look like, to be stated column by column; not public.

        Its columns are marked as not stated, and nothing is defended of what they read. Columns
        that can be no levels (identifiers, free text, one value only) are left out.

        Args:
            source: A frame or a file, as for :func:`engine.read_table`.
            options: ``encoding``, ``query`` or ``sheet``, as there.

        Returns:
            A schema with the levels and cut points found in the first 50,000 rows.

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
        from engine.data.survey import survey  # here: it loads pyarrow

        found = (column.proposed() for column in survey(source, **options))
        return cls(tuple(Column(**facts, stated=False) for facts in found if facts is not None))

    def state(self, *as_found: str, **facts: Any) -> Schema:
        """The same, with some columns stated from what is known of the world and not of the rows.

        Args:
            as_found: Columns whose facts are right as they stand.
            facts: By column: its levels in order, fields of :class:`Column` (such as "cuts"), or a
                template's name (:data:`engine.data.templates.TEMPLATES`).

        Raises:
            InputError: For a column that there is not, or facts that do not fit.
        """
        told = {name: _facts(name, said) for name, said in facts.items()}
        for name in (*as_found, *told):
            if name not in self.names:
                hint = did_you_mean(str(name), self.names)
                raise InputError(f"The schema has no column {show(name)} to state.{hint}")
        columns = [
            _restated(column, told[column.name])
            if column.name in told
            else replace(column, stated=column.stated or column.name in as_found)
            for column in self.columns
        ]
        return replace(self, columns=tuple(columns))

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
            id: The column that says whose a row is.
            order: The column of numbers or ISO dates by which rows are first and last.
            takes: By column, how a person's rows become one
                (:data:`engine.data.column.TAKES`).

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
        known = {"knowledge": self.knowledge.to_json()} if self.knowledge else {}
        return {"format": FORMAT, "version": VERSION, **top, "columns": columns, **known}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the schema's JSON file, a new one; InputError where it cannot be written."""
        try:
            with Path(path).open("x", encoding="utf-8") as file:
                file.write(json.dumps(self.to_json(), ensure_ascii=False, indent=1) + "\n")
        except FileExistsError:
            raise InputError(f"There is a file {show(str(path))} already; give another.") from None
        except (OSError, ValueError):
            raise InputError(f"{show(str(path))} cannot be written; give another place.") from None

    def check_rows(self, n: int, label: str) -> None:
        """Refuse a table of another number of rows; n is a public fact."""
        if self.rows is not None and n != self.rows:
            what = self.what
            raise DataError(f"{label} has {n:,} {what} but the schema states {self.rows:,}.")

    def places(self, names: Sequence[str], label: str) -> list[int]:
        """Where the file's columns are that the schema names, in its order."""
        return find_columns(self.names, names, label)

    def coders(self, numbers: Numbers) -> list[Callable[[list[str]], np.ndarray]]:
        """For each column what makes codes of words; ``numbers`` says how numbers are written."""
        return [partial(column.codes, numbers=numbers) for column in self.columns]


def find_columns(wanted: Iterable[str], names: Sequence[str], label: str) -> list[int]:
    """Where columns that a schema names are among the file's; DataError for one that is not."""
    at = {unsafe(name): k for k, name in reversed(list(enumerate(names)))}
    at |= {name: k for k, name in reversed(list(enumerate(names)))}
    found = []
    for name in wanted:
        if name not in at:
            hint = did_you_mean(name, [n for n in names if n])
            raise DataError(f"{label} has no column {show(name)}, which the schema names.{hint}")
        found.append(at[name])
    return found


def _check_person(schema: Schema) -> None:
    person = schema.person
    for column in schema.columns:
        shown = show(column.name)
        if person is None and column.take is not None:
            raise InputError(
                f"Column {shown} says how a person's rows become one, but the schema names no "
                'person: "person": {"id": the column of ids}.'
            )
        if person is None:
            continue
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


def _facts(name: str, said: Any) -> dict[str, Any]:
    """Fields of a column from what a person says of it: levels, fields, or a template's name."""
    if isinstance(said, str):
        return dict(templates.template(said))
    if isinstance(said, Mapping):
        facts = {str(field): value for field, value in said.items()}
        _refuse_unknown(facts, _FIELDS[1:-1], f"Column {show(name)}")
    elif isinstance(said, Sequence):
        facts = {"levels": said}
    else:
        raise InputError(f"Say of column {show(name)} its levels, its cuts or a template.")
    for field in _LISTS:
        if field in facts:
            facts[field] = _as_tuple(facts[field], field)
    if "levels" in facts:
        facts["levels"] = tuple(map(str, facts["levels"]))
    return facts


def column_of(name: Any, said: Any) -> Column:
    """A stated column from what is said of it: levels, fields, or a template's name; InputError."""
    facts = _facts(str(name), said)
    if "type" not in facts:
        numeric = "cuts" in facts or "bounds" in facts
        facts["type"] = "numeric" if numeric else "ordered"
    return Column(name=name, **facts)


def _as_tuple(value: Any, field: str) -> tuple[Any, ...]:
    if isinstance(value, str | Mapping) or not isinstance(value, Iterable):
        raise InputError(f'"{field}" in a schema is a list.')
    return tuple(v.item() if isinstance(v, np.generic) else v for v in value)


def _restated(column: Column, facts: Mapping[str, Any]) -> Column:
    """A column with some facts said anew; those of another kind are forgotten."""
    numeric = "cuts" in facts or "bounds" in facts
    kept: dict[str, Any] = {"name": column.name, "take": column.take}
    if numeric or facts.get("type") == "numeric":
        kept["type"] = "numeric"
        if column.type == "numeric":
            kept["other"] = column.other
            if "bins" in facts and "bounds" not in facts and column.bounds is not None:
                kept["bounds"] = column.bounds
    elif "levels" in facts:
        kept["type"] = column.type if column.type != "numeric" else "ordered"
        if column.other in facts["levels"]:
            kept["other"] = column.other
    else:
        kept = {k: v for k, v in asdict(column).items() if k != "stated"}
    return Column(**{**kept, **facts})


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
        _parse_person(content["person"]) if "person" in content else None,
        None if known is None else parse_knowledge(known),
    )


def _parse_person(content: Any) -> Person:
    if not isinstance(content, Mapping) or "id" not in content:
        raise InputError('The "person" of a schema is an object such as {"id": "patient"}.')
    _refuse_unknown(content, _PERSON, "The person of a schema")
    return Person(**content)


def _parse_column(content: Any) -> Column:
    if not isinstance(content, Mapping):
        raise InputError('Every column of a schema is an object such as {"name": "age", ...}.')
    _refuse_unknown(content, _FIELDS, "A column of a schema")
    for field in ("name", "type"):
        if field not in content:
            raise InputError(f'A column of the schema has no "{field}".')
    facts = dict(content)
    for field in _LISTS:
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
