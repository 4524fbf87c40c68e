"""The user's declarations about each column of their table, one card per column."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from engine import InputError
from engine.data.column import LEVEL, MISSING_LEVEL, MOST_RELEASED, Column, Dialect, Person
from engine.data.draft import Found
from engine.data.schema import Schema
from engine.errors import show
from engine.params import Parameters, Spec, number, param, relevant
from pages.shell import form
from pages.shell import words as text
from pages.shell.state import Draft

# The kind of a column, in words -> its type in the schema, and the part of a date that is read.
KINDS = {
    "Levels in order": ("ordered", None),
    "Levels without order": ("unordered", None),
    "Numbers, cut into levels": ("numeric", None),
    "A date: its year, cut into levels": ("numeric", "year"),
    "A date: its month": ("unordered", "month"),
}
ORDERED, UNORDERED, NUMERIC, YEAR, MONTH = KINDS
REFUSE, OWN_LEVEL = "(refuse the table)", "a separate level"
ORDERLESS = "(no order)"
TAKEN = {
    "first": "the first row's",
    "last": "the last row's",
    "any": "the highest of any row",
    "most": "the most frequent",
    "sum": "the sum of all rows",
    "count": "how many rows there are",
}
A_PAGE = 12  # cards on one screen; more need several pages
DECLARE = "I declare this"
_OTHER = "Treat missing and unmatched values as"
_LINE = 20_000  # maximum length of a list of levels in characters
_LEVELS, _CUTS = {"kind": (ORDERED, UNORDERED)}, {"kind": (NUMERIC, YEAR)}
_GROUPS, _GAPS = {"kind": (ORDERED, UNORDERED, MONTH)}, {"kind": (NUMERIC, YEAR, MONTH)}
_HELP = {
    "person": "The guarantee is then about persons, and each card says how to combine their rows.",
    "levels": "Separate them by | or commas, in their order if they have one.",
    "groups": "Write a group's name, a colon and its levels, with bars between groups: north: "
    "Alta, Oslo | south: Bari. Shares set how often synthetic rows get each level: "
    "north: Alta = 1, Oslo = 3.",
    "cuts": "Three cut points make four levels. A value equal to a cut point belongs to the "
    "level above it.",
    "values": "For means in a unit, if you know them: none: 0 | some: 5.",
    "bounds": "Public bounds, for means in a unit: 0, 100.",
    "missing": "Read as missing, for example -9 | Refused. Separate them by bars or commas.",
}


@dataclass(frozen=True, kw_only=True)
class Card(Parameters):
    """The controls of one column's card."""

    out: bool = param(False, "Leave it out")
    person: bool = param(False, "This is the person", help=_HELP["person"])
    kind: str = param(UNORDERED, "Kind of column", choices=tuple(KINDS))
    levels: str = param("", "Levels", high=_LINE, when=_LEVELS, help=_HELP["levels"])
    groups: str = param("", "Groups of levels", high=_LINE, when=_GROUPS, help=_HELP["groups"])
    other: str = param(REFUSE, _OTHER, choices=(REFUSE,), when=_LEVELS)
    cuts: str = param("", "Cut points", high=_LINE, when=_CUTS, help=_HELP["cuts"])
    gaps: float | str = param(REFUSE, _OTHER, kind="float", words=(REFUSE, OWN_LEVEL), when=_GAPS)
    values: str = param("", "Number of each level", high=_LINE, when=_LEVELS, help=_HELP["values"])
    bounds: str = param("", "Lowest and highest value", high=200, when=_CUTS, help=_HELP["bounds"])
    missing: str = param("", "Codes for missing", high=_LINE, help=_HELP["missing"])
    take: str = param("most", "Combine a person's rows by", choices=tuple(TAKEN))
    declared: bool = param(False, DECLARE)


FIELDS = {spec.name: spec for spec in Card.specs()}


def drafts(found: Sequence[Found], schema: Schema | None = None) -> dict[str, Draft]:
    """Return a card's values for each column, from the current schema or else inferred.

    Inferred facts are not declared.
    """
    cards = {column.name: _draft(column) for column in found}
    if schema is None:
        return cards
    id_ = None if schema.person is None else schema.person.id
    for name, card in cards.items():
        card.update(out=name not in schema.names, person=name == id_)
    return cards | {column.name: _card(column) for column in schema.columns}


def _card(column: Column) -> Draft:
    """Return the values of a card that describes a column."""
    kinds, other = {facts: kind for kind, facts in KINDS.items()}, column.other
    kind = kinds.get((column.type, column.part), kinds[column.type, None])
    return Card().as_dict() | {
        "kind": kind,
        "levels": " | ".join(column.levels),
        "groups": _named((name, _members(group)) for name, group in column.groups),
        "other": (column.levels and other) or REFUSE,
        "cuts": _numbers(column.points()),
        "gaps": REFUSE if other is None else OWN_LEVEL if isinstance(other, str) else other,
        "values": _named((level, f"{value:g}") for level, value in column.values),
        "bounds": _numbers(column.bounds or ()),
        "missing": " | ".join(map(str, column.missing or ())),
        "take": column.take or ("last" if kind == NUMERIC else "most"),
        "declared": column.declared,
    }


def _named(pairs: Iterable[tuple[str, str]]) -> str:
    return " | ".join(f"{name}: {said}" for name, said in pairs)


def _numbers(values: Iterable[float]) -> str:
    return ", ".join(repr(float(value)).removesuffix(".0") for value in values)


def _members(group: Sequence[tuple[str, float]]) -> str:
    alike = len({share for _, share in group}) == 1
    return ", ".join(word if alike else f"{word} = {share:g}" for word, share in group)


def _draft(found: Found) -> Draft:
    card: Draft = Card(out=True).as_dict() if found.column is None else _card(found.column)
    if found.years:
        first, last = found.years
        decades = range(first // 10 * 10 + 10, last + 1, 10) if last - first > 20 else ()
        card.update(kind=YEAR, cuts=_numbers(decades or range(first + 1, last + 1)[:60]))
    if found.missing:
        card["gaps"] = OWN_LEVEL
    return card


# From cards to a schema -----------------------------------------------------------------

_APART = dict.fromkeys(("person", "take", "declared"))  # fields that are no facts about a column


def person_of(cards: Mapping[str, Draft]) -> str | None:
    """Return the column that says which person a row belongs to; None if each row is a person."""
    return next((name for name, card in cards.items() if card["person"]), None)


def used(cards: Mapping[str, Draft], order: str = ORDERLESS) -> list[str]:
    """Return the columns with levels that are used."""
    skip = None if person_of(cards) is None else order
    return [n for n, card in cards.items() if not (card["out"] or card["person"] or n == skip)]


def waiting(cards: Mapping[str, Draft], order: str = ORDERLESS) -> list[str]:
    """Return the used columns that the user has not declared yet."""
    return [name for name in used(cards, order) if not cards[name]["declared"]]


def schema_of(
    cards: Mapping[str, Draft],
    dialect: Dialect,
    order: str = ORDERLESS,
    rows: int | None = None,
    force: Schema | None = None,
) -> Schema:
    """Return the schema that the cards declare.

    A card that agrees with the schema in ``force`` keeps the column of that schema. Raises
    InputError if a column is undeclared or invalid.
    """
    if left := waiting(cards, order):
        listed = ", ".join(left[:3]) + (" …" if left[3:] else "")
        raise InputError(
            f"Tick “{DECLARE}” for {listed}: facts found in your data are not public until you "
            "declare them from other knowledge."
        )
    id_, ordered = person_of(cards), None if order == ORDERLESS else order
    person = None if id_ is None else Person(id=id_, order=ordered)
    in_force = {} if force is None else {column.name: column for column in force.columns}
    columns = []
    for name in used(cards, order):
        card, column = cards[name], in_force.get(name)
        if column is None or {**card, **_APART} != {**_card(column), **_APART}:
            column = _column(name, card)
        take = card["take"] if person else None
        other = None if take == "count" else column.other  # a number of rows is never missing
        columns.append(replace(column, take=take, other=other, declared=True))
    made = Schema(tuple(columns), rows, person, dialect=force.dialect if force else dialect)
    if force is None:
        return made
    known = force.knowledge if {*force.names} <= {*made.names} else None
    return replace(made, missing=force.missing, knowledge=known)


def _column(name: str, card: Draft) -> Column:
    type_, part = KINDS[card["kind"]]
    facts: dict[str, Any] = {"part": part, "missing": split(card["missing"]) or None}
    if type_ == "numeric":
        cuts, bounds = (_floats(name, card[field]) for field in ("cuts", "bounds"))
        if not cuts:
            raise InputError(f"Give {show(name)} at least one cut point.")
        other = {REFUSE: None, OWN_LEVEL: LEVEL}.get(card["gaps"], card["gaps"])
        facts |= {"cuts": cuts, "bounds": bounds or None}
    elif part:
        other = None if card["gaps"] == REFUSE else MISSING_LEVEL
        facts["levels"] = (*map(str, range(1, 13)), *filter(None, [other]))
    else:
        other = None if card["other"] == REFUSE else card["other"]
        facts["levels"] = split(card["levels"])
        facts["values"] = {word: _number(name, n) for word, n in _pairs(name, card["values"])}
    if type_ != "numeric":
        facts["groups"] = _groups(name, card["groups"])
    return Column(name=name, type=type_, other=other, **facts)


def _floats(name: str, typed: str) -> tuple[float, ...]:
    return tuple(_number(name, word) for word in split(typed))


def _number(name: str, typed: str) -> float:
    try:
        return number(typed.strip(), float)
    except ValueError:
        raise InputError(
            f"Cut points, bounds and shares of {show(name)} are numbers separated by commas."
        ) from None


def _pairs(name: str, typed: str) -> list[tuple[str, str]]:
    """Return pairs of a name and the text behind its colon; bars separate them."""
    parts = [part.rpartition(":") for part in typed.split("|") if part.strip()]
    if not all(one.strip() and said.strip(" ,;") for one, _, said in parts):
        raise InputError(f"For {show(name)}, write a name, a colon, and its levels or its number.")
    return [(one.strip(), said) for one, _, said in parts]


def _groups(name: str, typed: str) -> dict[str, tuple[str, ...] | dict[str, float]]:
    """Return the levels of each typed group, with their shares if there are any."""
    found: dict[str, tuple[str, ...] | dict[str, float]] = {}
    for group, words in _pairs(name, typed):
        found[group] = split(words)
        parts = [word.rpartition(" = ") for word in found[group]]
        if all(sign for _, sign, _ in parts):
            found[group] = {word.strip(): _number(name, share) for word, _, share in parts}
    return found


def split(typed: str) -> tuple[str, ...]:
    """Split a typed list: by bars if there are any, else by commas and semicolons."""
    sign = r" \| " if " | " in typed else r"\|" if "|" in typed else "[,;]"
    return tuple(filter(None, map(str.strip, re.split(sign, typed))))


# On the page ----------------------------------------------------------------------------


def card_view(
    column: Found, cards: Mapping[str, Draft], *, key: str, ordering: bool, many: bool, origin: str
) -> None:
    """Draw one column's card.

    ``ordering``: it only orders the rows of a person. ``many``: a person has many
    rows. ``origin`` says where the current schema's facts about it come from, if there are any.
    """
    card, person = cards[column.name], person_of(cards)
    with st.container(border=True, key=f"{key}-card"):
        st.markdown(f"**{text.plain(column.name)}**")
        st.caption(_about(column, origin, declared=card["declared"]))
        if ordering:
            st.caption("Orders a person's rows and has no other use.")
            return
        with st.container(horizontal=True):
            if not card["person"]:
                _control(FIELDS["out"], card, key)
            if many and person in (None, column.name):  # any column may identify the person
                _control(FIELDS["person"], card, key)
        if card["person"]:
            st.caption("Identifies the person of each row. No release contains it.")
        elif not card["out"]:
            _declaring(column, card, key=key, persons=person is not None)


def _about(column: Found, origin: str, *, declared: bool) -> str:
    """Return the facts about a column as Markdown, and whether they are public."""
    said = "Inferred from your data, not public"
    if declared:
        said = f"{origin}, public." if origin else "Declared by you, not read yet."
        said += " In your data (not public)"
    said += f": {text.count(column.distinct, 'value')}"
    said += f", {text.count(column.missing, 'cell')} empty." if column.missing else "."
    if column.why_out:
        said += text.plain(f" Left out: {column.why_out}.")
    return said + (text.plain(f" Check this: {column.hint}.") if column.hint else "")


def _control(spec: Spec, card: Draft, key: str, options: Sequence[str] = ()) -> None:
    if not options:
        form.parameter(spec, card, key=key)
        return
    key, label = f"{key}-{spec.name}", TAKEN.get if spec.name == "take" else str
    shown: Any = {"options": options, "start": spec.default, "format_func": label}
    form.bound(st.selectbox, spec.title, card, spec.name, key=key, **shown)


def _declaring(column: Found, card: Draft, *, key: str, persons: bool) -> None:
    listed, grouped = split(card["levels"]), card["groups"]
    groups = (part.rpartition(":")[0].strip() for part in grouped.split("|"))
    options: Mapping[str, Sequence[str]] = {
        "kind": [kind for kind, (_, part) in KINDS.items() if part is None or column.years],
        "other": [*listed, *filter(None, groups), REFUSE],
        "take": list(TAKEN),
    }
    hidden = {"out", "person", "declared", *(() if persons else ("take",))}
    if card["kind"] != MONTH and not grouped and len(listed) <= MOST_RELEASED:
        hidden.add("groups")
    specs = [one for one in relevant(Card.specs(), card) if one.name not in hidden]
    for place, spec in form.beside(specs):
        with place:
            _control(spec, card, key, options.get(spec.name, ()))
    _control(FIELDS["declared"], card, key)
