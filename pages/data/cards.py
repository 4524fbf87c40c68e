"""What a person states about each column of their own table, a card a column."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from engine import InputError
from engine.data.column import LEVEL, TAKES
from engine.data.schema import Column, Person, Schema
from engine.data.survey import Found
from engine.data.templates import TEMPLATES
from engine.errors import show
from pages.shell import words as text
from pages.shell.drafts import Draft
from pages.shell.form import bound

KINDS = {
    "ordered": "Levels in order",
    "unordered": "Levels without order",
    "numeric": "Numbers, cut into levels",
    "out": "Leave it out",
}
REFUSE, OWN_LEVEL, NUMBER = "refuse", LEVEL, "number"
GAPS = {
    REFUSE: "Refuse the table",
    OWN_LEVEL: "A level of their own",
    NUMBER: "A number I state",
}
NONE = "(by hand)"
STATE = "I state this"
EACH = "Each row is a person of their own"
ORDERLESS = "(no order)"
TAKEN = {
    "first": "the first row's",
    "last": "the last row's",
    "any": "the highest of any row",
    "most": "the most frequent",
    "sum": "the sum of all rows",
    "count": "how many rows there are",
}
A_PAGE = 12  # cards on one screen; more are turned


def drafts(found: Sequence[Found]) -> dict[str, Draft]:
    """A card's values for each column, as found; nothing is stated yet."""
    return {column.name: _draft(column) for column in found}


def _draft(column: Found) -> Draft:
    facts = column.proposed() or {}
    levels = facts.get("levels", ())
    other = facts.get("other")
    return {
        "kind": facts.get("type", "out"),
        "template": NONE,
        "levels": " | ".join(levels),
        "cuts": ", ".join(f"{cut:g}" for cut in facts.get("cuts", ())),
        "other": other if levels and other is not None else (levels[0] if levels else ""),
        "gaps": OWN_LEVEL if facts.get("type") == "numeric" and other == LEVEL else REFUSE,
        "number": 0.0,
        "take": "most" if facts.get("type") != "numeric" else "last",
        "stated": False,
    }


# From cards to a schema -----------------------------------------------------------------


def used(cards: Mapping[str, Draft]) -> list[str]:
    """The columns that are not left out."""
    return [name for name, card in cards.items() if card["kind"] != "out"]


def waiting(cards: Mapping[str, Draft]) -> list[str]:
    """The used columns that the person has not stated yet."""
    return [name for name in used(cards) if not cards[name]["stated"]]


def schema_of(cards: Mapping[str, Draft], whose: str = EACH, order: str = ORDERLESS) -> Schema:
    """The schema that the cards state; InputError where one is not stated, or does not fit."""
    persons = whose != EACH
    chosen = [name for name in used(cards) if not persons or name not in (whose, order)]
    if open_ := [name for name in chosen if not cards[name]["stated"]]:
        listed = ", ".join(open_[:3]) + (" …" if open_[3:] else "")
        raise InputError(
            f"Tick “{STATE}” for {listed}: what was found in your data is not public until you "
            "state it from other knowledge."
        )
    columns = tuple(_column(name, cards[name], persons=persons) for name in chosen)
    person = Person(id=whose, order=None if order == ORDERLESS else order) if persons else None
    return Schema(columns, person=person)


def _column(name: str, card: Mapping[str, Any], *, persons: bool) -> Column:
    take = card["take"] if persons else None
    if card["kind"] != "numeric":
        levels = split(card["levels"])
        other = card["other"] if card["other"] in levels else None
        return Column(name=name, type=card["kind"], levels=levels, other=other, take=take)
    try:
        cuts = tuple(float(word) for word in split(card["cuts"]))
    except ValueError:
        raise InputError(f"The cut points of {show(name)} are numbers with commas.") from None
    if not cuts:
        raise InputError(f"Give {show(name)} at least one cut point.")
    gaps = {REFUSE: None, OWN_LEVEL: LEVEL, NUMBER: card["number"]}[card["gaps"]]
    return Column(
        name=name,
        type="numeric",
        cuts=cuts,
        other=None if take == "count" else gaps,
        take=take,
    )


def split(typed: str) -> tuple[str, ...]:
    """What is typed as a list: parted by bars where there is one, else by commas or semicolons."""
    parts = typed.split("|") if "|" in typed else re.split("[,;]", typed)
    return tuple(filter(None, map(str.strip, parts)))


def fill(card: Draft, name: str) -> None:
    """Lay a template over a card; it still waits to be stated."""
    card["template"], card["stated"] = name, False
    if name == NONE:
        return
    facts = TEMPLATES[name]
    card["kind"] = facts["type"]
    if facts["type"] == "numeric":
        card["cuts"] = ", ".join(f"{cut:g}" for cut in facts["cuts"])
        card["gaps"] = OWN_LEVEL
    else:
        card["levels"], card["other"] = " | ".join(facts["levels"]), facts["other"]


def answer_gaps(cards: Mapping[str, Draft], found: Sequence[Found], answer: str) -> None:
    """One answer to what missing values count as, for every column that has some."""
    for column in found:
        card = cards[column.name]
        if not column.missing or card["kind"] == "out":
            continue
        card["gaps"] = answer
        if card["kind"] != "numeric" and answer == OWN_LEVEL:
            levels = split(card["levels"])
            own = next((w for w in levels if w in ("missing", "no answer", "gap")), "missing")
            card["levels"] = " | ".join((*(w for w in levels if w != own), own))
            card["other"] = own


# On the page ----------------------------------------------------------------------------


def card_view(column: Found, card: Draft, *, key: str, persons: bool) -> None:
    """One column's card."""
    with st.container(border=True, key=f"{key}-card"):
        missing = f", {text.count(column.missing, 'cell')} missing" if column.missing else ""
        values = text.count(column.distinct, "value")
        st.markdown(f"**{text.plain(column.name)}**")
        st.caption(f"Found in your rows, not public: {values}{missing}.")
        left, right = st.columns(2, gap="small")
        with left:
            bound(
                st.selectbox,
                "What it is",
                card,
                "kind",
                key=f"{key}-kind",
                options=list(KINDS),
                format_func=KINDS.__getitem__,
            )
        if card["kind"] == "out":
            return
        with right:
            _template(card, key)
        _facts(card, key)
        if persons:
            bound(
                st.selectbox,
                "Of a person's rows, take",
                card,
                "take",
                key=f"{key}-take",
                options=list(TAKES),
                format_func=TAKEN.__getitem__,
            )
        bound(st.checkbox, STATE, card, "stated", key=f"{key}-stated")


def _template(card: Draft, key: str) -> None:
    chosen = bound(
        st.selectbox,
        "By its nature",
        card,
        "template",
        key=f"{key}-template",
        options=[NONE, *TEMPLATES],
        help="Levels and cut points that follow from what a column is, not from your rows.",
    )
    if chosen != card.get("filled", NONE):
        card["filled"] = chosen
        fill(card, chosen)
        st.rerun()


def _facts(card: Draft, key: str) -> None:
    """Levels or cut points, and what all else counts as."""
    left, right = st.columns([3, 2], gap="small")
    if card["kind"] == "numeric":
        with left:
            bound(
                st.text_input,
                "Cut points",
                card,
                "cuts",
                key=f"{key}-cuts",
                help="Three cut points make four levels; a value on one belongs above it.",
            )
        with right:
            _number_gaps(card, key)
        return
    with left:
        bound(
            st.text_input,
            "Levels",
            card,
            "levels",
            key=f"{key}-levels",
            help="Parted by | or by commas; in their order where they have one.",
        )
    levels = split(card["levels"])
    if levels and card["other"] not in levels:
        card["other"] = levels[0]
    with right:
        bound(
            st.selectbox,
            "Missing and all else is",
            card,
            "other",
            key=f"{key}-other",
            options=list(levels) or [""],
        )


def _number_gaps(card: Draft, key: str) -> None:
    bound(
        st.selectbox,
        "Missing numbers",
        card,
        "gaps",
        key=f"{key}-gaps",
        options=list(GAPS),
        format_func=GAPS.__getitem__,
    )
    if card["gaps"] == NUMBER:
        bound(st.number_input, "That number", card, "number", key=f"{key}-number", format="%g")
