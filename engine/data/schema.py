"""A schema: the public facts that a user declares about a table, stored in a JSON file.

A guarantee protects a record's values. The schema counts as public, so it must not be taken from
the records. A column that is not in the schema is not read. The code of a cell depends only on this
cell and on the schema (:mod:`engine.data.intake`). An unmatched value counts as the column's
``other``. If no ``other`` is declared, a table with such a value is refused.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, TypeVar

from engine.data.column import (
    LEVEL,
    MOST_COLUMNS,
    PLAIN,
    TAKES,
    Column,
    Dialect,
    Person,
    listed,
    repeated,
)
from engine.errors import DataError, InputError, did_you_mean, show
from engine.knowledge import (
    Knowledge,
    check_fields,
    check_names,
    parse_json,
    parse_knowledge,
    read_text,
    write_json,
)
from engine.monitor import Monitor, OnProgress, Stop

__all__ = ["LEVEL", "Column", "Person", "Schema", "load_schema", "parse_schema"]

if TYPE_CHECKING:
    from engine.data.draft import Found
    from engine.question import Question, Questions

_Facts = TypeVar("_Facts", Column, Person, Dialect)
FORMAT = "dp-causal-explorer/schema"
VERSIONS = 1, 2  # version 2 is for facts that version 1 cannot store
_TOP = (
    "format", "version", "rows", "person", "dialect", "missing", "columns", "knowledge",
    "question", "questions",
)  # fmt: skip
_NEW = ("missing", "groups", "values", "declared")


class _Named(type):
    """An attribute that names the right call for a name that users often try."""

    def __getattr__(cls, name: str) -> Any:
        tried = name in ("infer", "from_frame", "from_csv", "fit")
        hint = " Did you mean 'draft'?" if tried else ""
        raise AttributeError(f"Schema has no {name!r}.{hint}", name=name, obj=cls)


@dataclass(frozen=True)
class Schema(metaclass=_Named):
    """The columns used, in order, and the public number of rows if it is declared.

    With a ``person`` a record is a person, not a row. Every column then declares how to combine a
    person's rows, and ``rows`` is the number of persons. ``knowledge`` is the declared background
    knowledge and ``dialect`` the text dialect. ``missing`` lists the codes that are read as missing
    in each column without separate codes. ``questions`` are the effects on which a release spends a
    share of its budget. In a draft, ``left_out`` maps each omitted column to the reason and a
    possible use; ``hints`` names points to check in other columns. Raises InputError for fewer than
    two columns, repeated names, rows below 2, rules for persons that do not fit together, and
    knowledge or questions about an unknown column.

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
    missing: tuple[str | float, ...] = ()
    questions: tuple[Question, ...] = ()
    left_out: tuple[tuple[str, str], ...] = field(default=(), compare=False)
    hints: tuple[tuple[str, str], ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        names = self.names
        if not 2 <= len(names) <= MOST_COLUMNS:
            raise InputError(f"A schema needs 2 to {MOST_COLUMNS:,} columns; it has {len(names)}.")
        if len(set(names)) < len(names):
            raise InputError(f"The schema names column {show(repeated(names))} twice; delete one.")
        if self.rows is not None and (type(self.rows) is not int or self.rows < 2):
            raise InputError("The rows of a schema must be a whole number of at least 2.")
        for column in self.read_by:  # each with its codes for missing values
            if fault := _wrong_person(column, self.person):
                raise InputError(f"The column {show(column.name)} {fault}.")
        if self.knowledge is not None:
            check_names(self.knowledge, names)
        for name in (name for each in self.questions for name in each.names):
            if name not in names:
                raise InputError(
                    f"The question names {show(name)}, which is not a column of the schema."
                    f"{did_you_mean(name, names)}"
                )

    def asked(self, question: Questions | None) -> Schema:
        """Return the schema with questions and their background knowledge, which are public facts.

        Raises InputError if the schema declares other knowledge or other questions.
        """
        if question is None:
            return self
        from engine.question import listed, one_knowledge  # most schemas have no question

        given = listed(question)
        means = [self.numbers(each.outcome) if each.mean else each.values for each in given]
        asked = [replace(each, mean=False, values=values, known=None)
                 for each, values in zip(given, means, strict=True)]  # fmt: skip
        if self.questions and self.questions != tuple(asked):
            raise InputError("The schema and the request declare different questions; keep one.")
        known = one_knowledge(given, self.knowledge)
        return replace(self, knowledge=known, questions=listed(asked))

    def numbers(self, name: str) -> tuple[float, ...]:
        """Return a column's public number of each level; InputError if a level has no number."""
        found = next((column for column in self.columns if column.name == name), None)
        if found is None:
            raise InputError(f"There is no column {show(name)}.{did_you_mean(name, self.names)}")
        without = [label for label, x in zip(found.labels, found.numbers, strict=True) if x is None]
        if without:
            raise InputError(
                f"{show(name)} has no public number for {show(without[0])}: declare bounds, or "
                "values by level."
            )
        return tuple(float(x) for x in found.numbers if x is not None)

    def __str__(self) -> str:
        """Return one line per column, and the reasons for columns that are left out."""
        lines = [
            f"{c.name}: {' | '.join(c.labels)}"
            + ("" if c.take is None else f", {c.take} of a person's rows")
            + ("" if c.declared else " (not declared)")
            for c in self.columns
        ]
        return "\n".join([*lines, *self.remarks])

    @property
    def remarks(self) -> tuple[str, ...]:
        """Return a line for each column that a draft left out or that needs a check."""
        out = (f"{name}: left out, {why}" for name, why in self.left_out)
        return (*out, *(f"{name}: {hint}" for name, hint in self.hints))

    @property
    def read_by(self) -> tuple[Column, ...]:
        """The columns, each with its codes for missing values."""
        codes = self.missing
        return tuple(replace(c, missing=codes) if c.missing is None else c for c in self.columns)

    @classmethod
    def draft(
        cls,
        source: Any,
        *,
        stop: Stop | None = None,
        on_progress: OnProgress | None = None,
        **options: Any,
    ) -> Schema:
        """Propose a schema from the rows; it is not public until its columns are declared.

        Its columns are marked as not declared, so runs on them have no guarantee. Columns that
        cannot have levels (ids, dates, free text, constants) are left out; ``left_out`` gives the
        reason and a remedy.

        Args:
            source: A frame or a file, as for :func:`engine.read_table`.
            stop: The same as there.
            on_progress: The same as there.
            options: ``query``, ``encoding``, ``delimiter``, ``decimal`` or ``date``, the same as
                there; ``missing``, a list of codes that are read as missing values.

        Returns:
            A schema with cut points and the levels inferred from all rows.

        Raises:
            InputError: In one sentence, if the source is not a table or has fewer than two usable
                columns.

        Examples:
            >>> import pandas as pd
            >>> frame = pd.DataFrame({"age": [31, 47, 68], "smokes": ["yes", "no", "no"]})
            >>> schema = Schema.draft(frame)
            >>> schema.waiting
            ('age', 'smokes')
            >>> schema.declare("smokes", age={"cuts": [40, 55]}).waiting
            ()
        """
        from engine.data.draft import survey

        found = survey(source, monitor=Monitor(on_progress, stop), **options)
        return cls.proposed(*found, options.get("missing") or ())

    @classmethod
    def proposed(
        cls, found: Sequence[Found], dialect: Dialect, missing: Sequence[Any] = ()
    ) -> Schema:
        """Return a draft of the inferred columns; DataError for fewer than two usable ones."""
        left_out = tuple((one.name, one.left_out) for one in found if one.why_out)
        columns = tuple(one.column for one in found if one.column is not None)
        if len(columns) < 2:
            said = "; ".join(f"{show(name)}: {why}" for name, why in left_out[:3])
            raise DataError(f"The table has fewer than two columns that can be levels ({said}).")
        hints = tuple((one.name, one.hint) for one in found if one.hint)
        more: Any = {"missing": tuple(missing), "left_out": left_out, "hints": hints}
        return cls(columns, dialect=dialect, **more)

    def state(self, *as_found: str, **facts: Any) -> Schema:
        """:meth:`declare` under its old name."""
        warnings.warn("Schema.state is called declare", DeprecationWarning, stacklevel=2)
        return self.declare(*as_found, **facts)

    def declare(self, *as_found: str, **facts: Any) -> Schema:
        """Declare some columns from knowledge about the world, not from the rows.

        A column's level for missing values, and the cells that count as it, stay unless ``other``
        is given again. Facts about a column that the draft left out add it to the schema.

        Args:
            as_found: Columns whose inferred facts are correct.
            facts: By column: its levels in order, or fields of :class:`Column` (for example
                "cuts").

        Raises:
            InputError: If a column is unknown or facts do not fit.
        """
        left_out = dict(self.left_out)
        asked = (name for name in (*as_found, *facts) if name in as_found or name not in left_out)
        self._check_known(asked, "declare")
        given = {name: _facts(name, said) for name, said in facts.items()}
        columns = [
            _restated(column, given[column.name])
            if column.name in given
            else replace(column, declared=column.declared or column.name in as_found)
            for column in self.columns
        ]
        columns += [_column(name, given[name]) for name in given if name not in self.names]
        left = tuple(pair for pair in self.left_out if pair[0] not in given)
        hints = tuple(pair for pair in self.hints if pair[0] not in {*as_found, *given})
        return replace(self, columns=tuple(columns), left_out=left, hints=hints)

    def keep(self, *names: str) -> Schema:
        """Return the schema with only these columns, in this order; InputError if unknown."""
        self._check_known(names, "keep")
        return replace(self, columns=tuple(self.columns[self.names.index(n)] for n in names))

    def _check_known(self, names: Iterable[str], verb: str) -> None:
        """Raise InputError for a name that is not a column's."""
        out = dict(self.left_out)
        for name in names:
            if name not in self.names:
                why = f": {out[name]}" if str(name) in out else ""
                hint = did_you_mean(name, [*self.names, *out])
                raise InputError(f"The schema has no column {show(name)} to {verb}{why}.{hint}")

    def by_person(self, id: str, order: str | None = None, **takes: str) -> Schema:
        """Return the schema with persons as records.

        Args:
            id: The column that identifies a row's person; it need not be in the schema.
            order: The column of numbers or ISO dates that sorts a person's rows.
            takes: The rule for combining a person's rows, by column (:data:`TAKES`).

        Raises:
            InputError: If a column has no rule, or a rule does not fit.

        Examples:
            >>> two = {"type": "ordered", "levels": ("no", "yes")}
            >>> schema = Schema((Column(name="smokes", **two), Column(name="coughs", **two)))
            >>> schema.by_person("patient", smokes="any", coughs="most").person.id
            'patient'
        """
        self._check_known(takes, "take")
        columns = (
            replace(column, take=takes.get(column.name, column.take))
            for column in self.columns
            if column.name not in (id, order) or column.name in takes
        )
        return replace(self, columns=tuple(columns), person=Person(id=id, order=order))

    @property
    def waiting(self) -> tuple[str, ...]:
        """The columns whose facts were inferred from the data and not declared."""
        return tuple(column.name for column in self.columns if not column.declared)

    @property
    def what(self) -> str:
        """Return the word for records: "rows" or "persons"."""
        return "rows" if self.person is None else "persons"

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(column.name for column in self.columns)

    @property
    def levels(self) -> tuple[tuple[str, ...], ...]:
        """The levels of each column in code order."""
        return tuple(column.labels for column in self.columns)

    def to_json(self) -> dict[str, Any]:
        """Return the content of the file."""
        stated = {
            "rows": self.rows,
            "person": self.person and _stated(self.person),
            "dialect": _stated(self.dialect),
            "missing": list(self.missing),
        }
        columns = [_stated(c, *("bins",) * (c.bounds is not None)) for c in self.columns]
        known = self.knowledge and self.knowledge.to_json()
        new = self.missing or self.dialect.date or any({*_NEW} & held.keys() for held in columns)
        new = new or any({"bounds", "cuts"} <= held.keys() for held in columns)
        new = new or bool(self.questions)
        top = {"format": FORMAT, "version": VERSIONS[bool(new)], **stated, "columns": columns}
        asked = [each.to_json() for each in self.questions]
        one = len(asked) == 1  # files written before schemas could have several questions
        last = ("knowledge", known), ("question", asked[0]) if one else ("questions", asked)
        return {what: value for what, value in (*top.items(), *last) if value}

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the schema's JSON file, or raise InputError if it exists or cannot be written.

        ``overwrite`` replaces an existing file, for notebooks that run again.
        """
        write_json(self.to_json(), path, overwrite=overwrite)


def _stated(facts: Any, *always: str) -> dict[str, Any]:
    """Return the fields of a dataclass that differ from their defaults, as JSON values."""
    held = {one.name: getattr(facts, one.name) for one in fields(facts)}
    differ = {one.name for one in fields(facts) if held[one.name] != one.default} | {*always}
    return {k: _plain(k, v) for k, v in held.items() if k in differ}


def _plain(what: str, value: Any) -> Any:
    """Return a field of a column as a JSON value."""
    if what == "values":
        return dict(value)
    if what == "groups":  # a list if the shares are equal
        alike = {name: len({share for _, share in group}) == 1 for name, group in value}
        return {n: [w for w, _ in group] if alike[n] else dict(group) for n, group in value}
    return list(value) if isinstance(value, tuple) else value


def _wrong_person(column: Column, person: Person | None) -> str | None:
    """Return the error in a column's rule for persons as the end of a sentence, or None."""
    if person is None:
        return column.take and 'has a rule for combining a person\'s rows; name the person ("id")'
    if column.name == person.id:
        return "is a person's id, which is never released; leave it out"
    if column.take is None:
        return f'needs a "take", the rule for combining a person\'s rows: {", ".join(TAKES)}'
    if column.take in ("first", "last") and person.order is None:
        return f"takes a person's {column.take} row, so name the column that orders the rows"
    return None


# From a user's facts to columns -----------------------------------------------------------


def _facts(name: str, said: Any) -> dict[str, Any]:
    """Return the fields of a column from a user's facts, which are levels or fields."""
    facts = dict(said) if isinstance(said, Mapping) else {"levels": said}
    if isinstance(facts.get("levels", ()), str | int | float | set | None):
        raise InputError(f"Declare {show(name)} by a list of its levels, or fields such as cuts.")
    known = [key for key in Column.__dataclass_fields__ if key not in ("name", "declared")]
    check_fields(facts, known, f"column {show(name)}")
    return {k: tuple(map(str, v)) if k == "levels" else v for k, v in facts.items()}


def _column(name: str, facts: dict[str, Any]) -> Column:
    """Build a declared column; if its type is not given, its facts determine it."""
    numeric = "cuts" in facts or "bounds" in facts
    return Column(**{"name": name, "type": "numeric" if numeric else "ordered", **facts})


def _restated(column: Column, facts: dict[str, Any]) -> Column:
    """Return a column with some facts replaced; the level of missing values stays."""
    numeric = column.type == "numeric"
    gap = str(column.labels[column.other_code or 0]) if column.has_gap_level else None
    kept: dict[str, Any] = {what: getattr(column, what) for what in ("take", "part", "missing")}
    if "cuts" in facts or "bounds" in facts:
        kept["other"] = LEVEL if gap else column.other if numeric else None
    elif "levels" in facts:
        kept["type"] = "ordered" if numeric else column.type
        if column.other in facts["levels"]:
            kept["other"] = column.other
        elif gap and facts.get("other") is None:
            facts = {**facts, "levels": (*facts["levels"], gap), "other": gap}
    else:
        return replace(column, **{**facts, "declared": True})
    return _column(column.name, {**kept, **facts})


def parse_schema(content: Any) -> Schema:
    """Return a schema from the JSON value of its file; InputError, in one sentence, if invalid."""
    content = check_fields(content, _TOP, "schema", FORMAT, VERSIONS)
    columns, person, known = map(content.get, ("columns", "person", "knowledge"))
    if not isinstance(columns, list):
        raise InputError('A schema needs "columns": a list with one object per column.')
    return Schema(
        tuple(_parsed(Column, one, "schema's column") for one in columns),
        content.get("rows"),
        None if person is None else _parsed(Person, person, "schema's person"),
        None if known is None else parse_knowledge(known),
        _parsed(Dialect, content.get("dialect", {}), "schema's dialect"),
        listed(content.get("missing", ()), "missing") or (),
        _questions(content),
    )


def _questions(content: Mapping[str, Any]) -> tuple[Question, ...]:
    if not {"question", "questions"} & content.keys():
        return ()
    from engine.question import parse_questions  # most schemas have no question

    one = [content["question"]] if "question" in content else []
    several = content.get("questions", [])
    return parse_questions(one + several if isinstance(several, list) else several)


def _parsed(kind: type[_Facts], content: Any, what: str) -> _Facts:
    """Build a dataclass from a JSON object; ``stated`` is version 1's name of ``declared``."""
    if kind is Column and isinstance(content, Mapping) and "stated" in content:
        content = {"declared" if k == "stated" else k: v for k, v in content.items()}
    check_fields(content, tuple(kind.__dataclass_fields__), what)
    for one in fields(kind):
        if one.default is MISSING and one.name not in content:
            raise InputError(f'A {what} has no "{one.name}".')
    return kind(**content)


def load_schema(source: str | os.PathLike[str] | bytes) -> Schema:
    """Read a schema's JSON file.

    Args:
        source: The path or the bytes of the file.

    Raises:
        InputError: In one sentence, if it is not a schema.

    Examples:
        >>> column = '{"name": "%s", "type": "ordered", "levels": ["no", "yes"]}'
        >>> columns = ", ".join(column % name for name in ("smokes", "coughs"))
        >>> head = '{"format": "dp-causal-explorer/schema", "version": 1, '
        >>> load_schema(f'{head}"columns": [{columns}]}}'.encode()).names
        ('smokes', 'coughs')
    """
    return parse_schema(parse_json(read_text(source, "schema"), "schema"))
