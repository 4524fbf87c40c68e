"""What the user states about each column of their table, a card a column."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from engine import InputError
from engine.data.column import LEVEL, MISSING_LEVEL, Column, Dialect, Person
from engine.data.draft import FEW, Found
from engine.data.schema import Schema
from engine.errors import show
from engine.params import Parameters, number, param
from pages.shell import form, state
from pages.shell import words as text
from pages.shell.state import Draft

# What a column is, in words -> its type in the schema, and the part of a date that is read.
KINDS = {
    "Levels in order": ("ordered", None),
    "Levels without order": ("unordered", None),
    "Numbers, cut into levels": ("numeric", None),
    "A date, of which the year is cut": ("numeric", "year"),
    "A date, of which the month counts": ("unordered", "month"),
}
ORDERED, UNORDERED, NUMERIC, YEAR, MONTH = KINDS
REFUSE, OWN_LEVEL = "(refuse the table)", "a level of their own"
ORDERLESS = "(no order)"
TAKEN = {
    "the first row's": "first",
    "the last row's": "last",
    "the highest of any row": "any",
    "the most frequent": "most",
    "the sum of all rows": "sum",
    "how many rows there are": "count",
}
A_PAGE = 12  # cards on one screen; more are turned
_LINE = 20_000  # characters of a list of levels
_LEVELS, _CUTS = {"kind": (ORDERED, UNORDERED)}, {"kind": (NUMERIC, YEAR)}


@dataclass(frozen=True, kw_only=True)
class Card(Parameters):
    """The controls of one column's card."""

    out: bool = param(False, "Leave it out")
    person: bool = param(
        False,
        "This is the person",
        help="Where a person has many rows (visits, purchases): the guarantee is then about "
        "persons, and each card says how their rows become one.",
    )
    kind: str = param(UNORDERED, "What it is", choices=tuple(KINDS))
    levels: str = param(
        "",
        "Levels",
        high=_LINE,
        when=_LEVELS,
        help="Separated by | or by commas; in their order where they have one.",
    )
    other: str = param(REFUSE, "Empty and all else is", choices=(REFUSE,), when=_LEVELS)
    cuts: str = param(
        "",
        "Cut points",
        high=_LINE,
        when=_CUTS,
        help="Three cut points make four levels; a value on one belongs above it.",
    )
    gaps: float | str = param(
        REFUSE, kind="float", title="What is no number", words=(REFUSE, OWN_LEVEL), when=_CUTS
    )
    take: str = param("the most frequent", "Of a person's rows, take", choices=tuple(TAKEN))
    stated: bool = param(False, "I state this")


def drafts(found: Sequence[Found]) -> dict[str, Draft]:
    """A card's values for each column, as found; nothing is stated yet."""
    return {column.name: _draft(column) for column in found}


def _draft(found: Found) -> Draft:
    column = found.column
    card = state.defaults(Card) | {"out": column is None}
    first, last = found.years or (0, 0)
    decades = range(first // 10 * 10 + 10, last + 1, 10) if last - first > 20 else ()
    cuts: Iterable[float] = decades or range(first + 1, last + 1)[:60]
    if column is not None:
        card["kind"] = next(kind for kind, (type_, _) in KINDS.items() if type_ == column.type)
        card["levels"], cuts = " | ".join(column.levels), column.cuts or cuts
        if column.levels and column.other is not None:
            card["other"] = column.other
    if found.years:
        card["kind"] = YEAR
    card["cuts"] = ", ".join(f"{cut:g}" for cut in cuts)
    if found.missing:
        card["gaps"] = OWN_LEVEL
    if card["kind"] == NUMERIC:
        card["take"] = "the last row's"
    return card


# From cards to a schema -----------------------------------------------------------------


def person_of(cards: Mapping[str, Draft]) -> str | None:
    """The column that says which person a row belongs to; None where each row is a person."""
    return next((name for name, card in cards.items() if card["person"]), None)


def used(cards: Mapping[str, Draft], order: str = ORDERLESS) -> list[str]:
    """The columns of which the levels are used."""
    skip = None if person_of(cards) is None else order
    left_out = {name for name, card in cards.items() if card["out"] or card["person"]}
    return [name for name in cards if name not in left_out and name != skip]


def waiting(cards: Mapping[str, Draft], order: str = ORDERLESS) -> list[str]:
    """The used columns that the person has not stated yet."""
    return [name for name in used(cards, order) if not cards[name]["stated"]]


def schema_of(
    cards: Mapping[str, Draft], dialect: Dialect, order: str = ORDERLESS, rows: int | None = None
) -> Schema:
    """The schema that the cards state; InputError where one is not stated, or does not fit."""
    if left := waiting(cards, order):
        listed = ", ".join(left[:3]) + (" …" if left[3:] else "")
        raise InputError(
            f"Tick “{state.spec_of(Card, 'stated').title}” for {listed}: what was found in your "
            "data is not public until you state it from other knowledge."
        )
    id_, ordered = person_of(cards), None if order == ORDERLESS else order
    person = None if id_ is None else Person(id=id_, order=ordered)
    columns = tuple(_column(n, cards[n], person is not None) for n in used(cards, order))
    return Schema(columns, rows, person, dialect=dialect)


def _column(name: str, card: Mapping[str, Any], persons: bool) -> Column:
    type_, part = KINDS[card["kind"]]
    facts: dict[str, Any] = {"take": TAKEN[card["take"]] if persons else None, "part": part}
    if type_ == "numeric":
        facts["cuts"] = _cuts(name, card["cuts"])
        facts["other"] = {REFUSE: None, OWN_LEVEL: LEVEL}.get(card["gaps"], card["gaps"])
        if facts["take"] == "count":
            facts["other"] = None
    elif part:
        facts["levels"] = (*map(str, range(1, 13)), MISSING_LEVEL)
        facts["other"] = MISSING_LEVEL
    else:
        facts["levels"] = split(card["levels"])
        facts["other"] = card["other"] if card["other"] in facts["levels"] else None
    return Column(name=name, type=type_, **facts)


def _cuts(name: str, typed: str) -> tuple[float, ...]:
    try:
        cuts = tuple(number(word, float) for word in split(typed))
    except ValueError:
        raise InputError(f"The cut points of {show(name)} are numbers with commas.") from None
    if not cuts:
        raise InputError(f"Give {show(name)} at least one cut point.")
    return cuts


def split(typed: str) -> tuple[str, ...]:
    """What is typed as a list: separated by bars where there are any, else commas, semicolons."""
    sign = r" \| " if " | " in typed else r"\|" if "|" in typed else "[,;]"
    return tuple(filter(None, map(str.strip, re.split(sign, typed))))


# On the page ----------------------------------------------------------------------------


def card_view(column: Found, cards: Mapping[str, Draft], *, key: str, ordering: bool) -> None:
    """One column's card; ``ordering``: it orders the rows of a person, and has no other use."""
    card, person = cards[column.name], person_of(cards)
    with st.container(border=True, key=f"{key}-card"):
        missing = f", {text.count(column.missing, 'cell')} empty" if column.missing else ""
        st.markdown(f"**{text.plain(column.name)}**")
        said = f"Found in your rows, not public: {text.count(column.distinct, 'value')}{missing}."
        if column.why_out:  # without the Python word for it
            said += text.plain(f" Left out: {re.sub(r' [(][^)]*[)]', '', column.why_out)}.")
        st.caption(said)
        if ordering:
            st.caption("Orders a person's rows, and has no other use.")
            return
        many = column.distinct > FEW and card["kind"] in (ORDERED, UNORDERED)
        with st.container(horizontal=True):
            if not card["person"]:
                _control(card, "out", key)
            if many and person in (None, column.name):
                _control(card, "person", key)
        if card["person"]:
            st.caption("Says which person a row belongs to. No file that leaves has it.")
        elif not card["out"]:
            _stating(column, card, key=key, persons=person is not None)


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


def _stating(column: Found, card: Draft, *, key: str, persons: bool) -> None:
    kinds = tuple(k for k, (_, part) in KINDS.items() if part is None or column.years)
    levels = (*split(card["levels"]), REFUSE)
    names = ["kind"]
    if card["kind"] in _LEVELS["kind"]:
        names += ["levels", "other"]
    elif card["kind"] in _CUTS["kind"]:
        names += ["cuts", "gaps"]
    names += ["take"] * persons
    for k in range(0, len(names), 2):
        for place, name in zip(st.columns(2, gap="small"), names[k : k + 2], strict=False):
            with place:
                _control(card, name, key, {"kind": kinds, "other": levels}.get(name, ()))
    _control(card, "stated", key)
