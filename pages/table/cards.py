"""The user's declarations about each column of their table, one card per column."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from engine import InputError
from engine.data.column import (
    LEVEL,
    MISSING_LEVEL,
    MOST_RELEASED,
    Column,
    Dialect,
    Person,
)
from engine.data.draft import Found
from engine.data.schema import Schema
from engine.errors import show
from engine.params import Parameters, number, param
from pages.shell import form, state
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
    "the first row's": "first",
    "the last row's": "last",
    "the highest of any row": "any",
    "the most frequent": "most",
    "the sum of all rows": "sum",
    "how many rows there are": "count",
}
A_PAGE = 12  # cards on one screen; more need several pages
_LINE = 20_000  # maximum length of a list of levels in characters
_LEVELS, _CUTS = {"kind": (ORDERED, UNORDERED)}, {"kind": (NUMERIC, YEAR)}
_GROUPS, _GAPS = {"kind": (ORDERED, UNORDERED, MONTH)}, {"kind": (NUMERIC, YEAR, MONTH)}


@dataclass(frozen=True, kw_only=True)
class Card(Parameters):
    """The controls of one column's card."""

    out: bool = param(False, "Leave it out")
    person: bool = param(
        False,
        "This is the person",
        help="The guarantee is then about persons, and each card says how to combine their rows.",
    )
    kind: str = param(UNORDERED, "Kind of column", choices=tuple(KINDS))
    levels: str = param(
        "",
        "Levels",
        high=_LINE,
        when=_LEVELS,
        help="Separate them by | or commas, in their order if they have one.",
    )
    groups: str = param(
        "",
        "Groups of levels",
        high=_LINE,
        when=_GROUPS,
        help="Write a group's name, a colon and its levels, with bars between groups: north: "
        "Alta, Oslo | south: Bari. Shares set how often synthetic rows get each level: "
        "north: Alta = 1, Oslo = 3.",
    )
    other: str = param(
        REFUSE, "Treat missing and unmatched values as", choices=(REFUSE,), when=_LEVELS
    )
    cuts: str = param(
        "",
        "Cut points",
        high=_LINE,
        when=_CUTS,
        help="Three cut points make four levels. A value equal to a cut point belongs to the "
        "level above it.",
    )
    gaps: float | str = param(
        REFUSE,
        kind="float",
        title="Treat missing and unmatched values as",
        words=(REFUSE, OWN_LEVEL),
        when=_GAPS,
    )
    values: str = param(
        "",
        "Number of each level",
        high=_LINE,
        when=_LEVELS,
        help="For means in a unit, if you know them: none: 0 | some: 5.",
    )
    bounds: str = param(
        "",
        "Lowest and highest value",
        high=200,
        when=_CUTS,
        help="Public bounds, for means in a unit: 0, 100.",
    )
    missing: str = param(
        "",
        "Codes for missing",
        high=_LINE,
        help="Read as missing, for example -9 | Refused. Separate them by bars or commas.",
    )
    take: str = param("the most frequent", "Combine a person's rows by", choices=tuple(TAKEN))
    declared: bool = param(False, "I declare this")


def drafts(found: Sequence[Found], schema: Schema | None = None) -> dict[str, Draft]:
    """Return a card's values for each column, from the current schema or else inferred.

    Inferred facts are not declared.
    """
    cards = {column.name: _draft(column) for column in found}
    if schema is None:
        return cards
    for name in cards:
        cards[name]["out"] = name not in schema.names
        cards[name]["person"] = schema.person is not None and name == schema.person.id
    for column in schema.columns:
        cards[column.name] = {**_card(column), "declared": column.declared}
    return cards


def _card(column: Column) -> Draft:
    """Return the values of a card that describes a column."""
    kinds = {type_part: kind for kind, type_part in reversed(KINDS.items())}
    kind = kinds.get((column.type, column.part), kinds[column.type, None])
    card = Card().as_dict() | {"kind": kind, "levels": " | ".join(column.levels)}
    if column.type == "numeric":
        card["cuts"], card["bounds"] = map(_numbers, (column.points(), column.bounds or ()))
        card["gaps"] = {None: REFUSE, LEVEL: OWN_LEVEL}.get(column.other, column.other)  # type: ignore[arg-type]
    elif column.other is not None:
        card["other"], card["gaps"] = column.other, OWN_LEVEL
    card["groups"] = " | ".join(f"{name}: {_members(group)}" for name, group in column.groups)
    card["values"] = " | ".join(f"{level}: {value:g}" for level, value in column.values)
    card["missing"] = " | ".join(map(str, column.missing or ()))
    taken = {take: words for words, take in TAKEN.items()}
    if column.take or kind == NUMERIC:
        card["take"] = taken[column.take or "last"]
    return card


def _numbers(values: Iterable[float]) -> str:
    return ", ".join(repr(float(value)).removesuffix(".0") for value in values)


def _members(group: Sequence[tuple[str, float]]) -> str:
    alike = len({share for _, share in group}) == 1
    return ", ".join(word if alike else f"{word} = {share:g}" for word, share in group)


def _draft(found: Found) -> Draft:
    column = found.column
    card: Draft = {**Card().as_dict(), "out": True} if column is None else _card(column)
    if found.years:
        first, last = found.years
        decades = range(first // 10 * 10 + 10, last + 1, 10) if last - first > 20 else ()
        cuts: Iterable[int] = decades or range(first + 1, last + 1)[:60]
        card["kind"], card["cuts"] = YEAR, ", ".join(map(str, cuts))
    if found.missing:
        card["gaps"] = OWN_LEVEL
    return card


# From cards to a schema -----------------------------------------------------------------


def person_of(cards: Mapping[str, Draft]) -> str | None:
    """Return the column that says which person a row belongs to; None if each row is a person."""
    return next((name for name, card in cards.items() if card["person"]), None)


def used(cards: Mapping[str, Draft], order: str = ORDERLESS) -> list[str]:
    """Return the columns with levels that are used."""
    skip = None if person_of(cards) is None else order
    left_out = {name for name, card in cards.items() if card["out"] or card["person"]}
    return [name for name in cards if name not in left_out and name != skip]


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
            f"Tick “{state.spec_of(Card, 'declared').title}” for {listed}: facts found in your "
            "data are not public until you declare them from other knowledge."
        )
    id_, ordered = person_of(cards), None if order == ORDERLESS else order
    person = None if id_ is None else Person(id=id_, order=ordered)
    in_force = {} if force is None else {column.name: column for column in force.columns}
    columns = []
    for name in used(cards, order):
        column, card = in_force.get(name), cards[name]
        take = TAKEN[card["take"]] if person else None
        if column is not None and _same(card, _card(column)):
            columns.append(replace(column, take=take, declared=True))
        else:
            columns.append(_column(name, card, take))
    kept = {} if force is None else {"missing": force.missing, "knowledge": force.knowledge}
    if force is not None and not {*force.names} <= {column.name for column in columns}:
        kept["knowledge"] = None
    return Schema(tuple(columns), rows, person, dialect=dialect, **kept)  # type: ignore[arg-type]


def _same(card: Draft, other: Draft) -> bool:
    """Return whether two cards describe a column in the same way, apart from persons and
    declaration."""
    return all(card[what] == other[what] for what in {*card} - {"person", "take", "declared"})


def _column(name: str, card: Mapping[str, Any], take: str | None) -> Column:
    type_, part = KINDS[card["kind"]]
    facts: dict[str, Any] = {"take": take, "part": part}
    facts["missing"] = split(card["missing"]) or None
    if type_ == "numeric":
        facts["cuts"] = _cuts(name, card["cuts"])
        facts["bounds"] = _cuts(name, card["bounds"]) if card["bounds"].strip() else None
        facts["other"] = {REFUSE: None, OWN_LEVEL: LEVEL}.get(card["gaps"], card["gaps"])
        if facts["take"] == "count":
            facts["other"] = None
    elif part:
        gap = () if card["gaps"] == REFUSE else (MISSING_LEVEL,)
        facts["levels"] = (*map(str, range(1, 13)), *gap)
        facts["groups"] = _groups(name, card["groups"])
        facts["other"] = MISSING_LEVEL if gap else None
    else:
        facts["levels"], facts["groups"] = split(card["levels"]), _groups(name, card["groups"])
        labels = (*facts["levels"], *facts["groups"])
        facts["values"] = {
            level: _number(name, value) for level, value in _pairs(name, card["values"])
        }
        facts["other"] = card["other"] if card["other"] in labels else None
    return Column(name=name, type=type_, **facts)


def _cuts(name: str, typed: str) -> tuple[float, ...]:
    cuts = tuple(_number(name, word) for word in split(typed))
    if not cuts:
        raise InputError(f"Give {show(name)} at least one cut point.")
    return cuts


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
        parts = [word.rpartition(" = ") for word in split(words)]
        shared = all(sign for _, sign, _ in parts)
        found[group] = (
            {word.strip(): _number(name, share) for word, _, share in parts}
            if shared
            else split(words)
        )
    return found


def split(typed: str) -> tuple[str, ...]:
    """Split a typed list: by bars if there are any, else by commas and semicolons."""
    sign = r" \| " if " | " in typed else r"\|" if "|" in typed else "[,;]"
    return tuple(filter(None, map(str.strip, re.split(sign, typed))))


# On the page ----------------------------------------------------------------------------


def card_view(
    column: Found,
    cards: Mapping[str, Draft],
    *,
    key: str,
    ordering: bool,
    many: bool,
    origin: str | None,
) -> None:
    """Draw one column's card.

    ``ordering``: it only orders the rows of a person. ``many``: a person has many
    rows. ``origin`` says where the current schema's facts about it come from, if there are any.
    """
    card, person = cards[column.name], person_of(cards)
    with st.container(border=True, key=f"{key}-card"):
        missing = f", {text.count(column.missing, 'cell')} empty" if column.missing else ""
        st.markdown(f"**{text.plain(column.name)}**")
        facts = f"{text.count(column.distinct, 'value')}{missing}"
        said = f"Inferred from your data, not public: {facts}."
        if origin is not None and card["declared"]:
            said = f"{origin}, public. In your data (not public): {facts}."
        elif card["declared"]:
            said = f"Declared by you, not read yet. In your data (not public): {facts}."
        if column.why_out:  # without the Python word for it
            said += text.plain(f" Left out: {re.sub(r' [(][^)]*[)]', '', column.why_out)}.")
        if column.hint:
            said += text.plain(f" Check this: {column.hint}.")
        st.caption(said)
        if ordering:
            st.caption("Orders a person's rows and has no other use.")
            return
        with st.container(horizontal=True):
            if not card["person"]:
                _control(card, "out", key)
            if many and person in (None, column.name):  # any column may identify the person
                _control(card, "person", key)
        if card["person"]:
            st.caption("Identifies the person of each row. No release contains it.")
        elif not card["out"]:
            _declaring(column, card, key=key, persons=person is not None)


def _control(card: Draft, name: str, key: str, among: Sequence[str] = ()) -> None:
    spec = state.spec_of(Card, name)
    if spec.kind != "choice":
        form.parameter(spec, card, key=key)
        return
    options, key = among or spec.choices, f"{key}-{name}"
    if card[name] not in options:
        card[name] = spec.default
    help_ = spec.help or None
    form.bound(st.selectbox, spec.title, card, name, key=key, options=options, help=help_)


def _declaring(column: Found, card: Draft, *, key: str, persons: bool) -> None:
    kinds = tuple(k for k, (_, part) in KINDS.items() if part is None or column.years)
    listed = split(card["levels"])
    groups = [part.rpartition(":")[0].strip() for part in card["groups"].split("|")]
    levels = (*listed, *filter(None, groups), REFUSE)
    names = ["kind"]
    if card["kind"] in _LEVELS["kind"]:
        names += ["levels"] + ["groups"] * (len(listed) > MOST_RELEASED or bool(card["groups"]))
        names += ["other", "values"]
    elif card["kind"] in _CUTS["kind"]:
        names += ["cuts", "gaps", "bounds"]
    else:
        names += ["groups", "gaps"]
    names += ["missing"] + ["take"] * persons
    for k in range(0, len(names), 2):
        for place, name in zip(st.columns(2, gap="small"), names[k : k + 2], strict=False):
            with place:
                _control(card, name, key, {"kind": kinds, "other": levels}.get(name, ()))
    _control(card, "declared", key)
