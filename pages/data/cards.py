"""What a person states about each column of their own table, a card a column."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from engine import InputError
from engine.data.column import LEVEL, PARTS, TAKES, TEMPLATES, Column, Dialect, Person
from engine.data.draft import FEW, Found
from engine.data.schema import Schema
from engine.errors import show
from pages.shell import words as text
from pages.shell.drafts import Draft
from pages.shell.form import bound

KINDS = {
    "ordered": "Levels in order",
    "unordered": "Levels without order",
    "numeric": "Numbers, cut into levels",
    "year": "A date, of which the year is cut",
    "month": "A date, of which the month counts",
}
REFUSE, NUMBER = "refuse", "number"
GAPS = {
    REFUSE: "Refuse the table",
    LEVEL: "A level of their own",
    NUMBER: "A number I state",
}
NOTHING = "(refuse the table)"
NONE = "(by hand)"
STATE, OUT, WHOSE = "I state this", "Leave it out", "This is the person"
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


def _draft(found: Found) -> Draft:
    column = found.proposed()
    facts: dict[str, Any] = {"type": "unordered"} if column is None else vars(column)
    levels, other = facts.get("levels", ()), facts.get("other")
    first, last = found.years or (0, 0)
    decades = range(first // 10 * 10 + 10, last + 1, 10) if last - first > 20 else ()
    cuts = facts.get("cuts", ()) or decades or range(first + 1, last + 1)[:60]
    return {
        "out": column is None,
        "person": False,
        "kind": "year" if found.kind == "date" else facts["type"],
        "template": NONE,
        "levels": " | ".join(levels),
        "cuts": ", ".join(f"{cut:g}" for cut in cuts),
        "other": other if levels and other is not None else NOTHING,
        "gaps": LEVEL if found.missing else REFUSE,
        "number": 0.0,
        "take": "last" if facts["type"] == "numeric" else "most",
        "stated": False,
    }


# From cards to a schema -----------------------------------------------------------------


def person_of(cards: Mapping[str, Draft]) -> str | None:
    """The column that says whose a row is; None where each row is a person of their own."""
    return next((name for name, card in cards.items() if card["person"]), None)


def used(cards: Mapping[str, Draft], order: str = ORDERLESS) -> list[str]:
    """The columns whose levels are used."""
    skip = {order} if person_of(cards) is not None else set()
    return [n for n, card in cards.items() if not card["out"] and not card["person"]
            and n not in skip]  # fmt: skip


def waiting(cards: Mapping[str, Draft], order: str = ORDERLESS) -> list[str]:
    """The used columns that the person has not stated yet."""
    return [name for name in used(cards, order) if not cards[name]["stated"]]


def schema_of(cards: Mapping[str, Draft], dialect: Dialect, order: str = ORDERLESS) -> Schema:
    """The schema that the cards state; InputError where one is not stated, or does not fit."""
    whose = person_of(cards)
    if open_ := waiting(cards, order):
        listed = ", ".join(open_[:3]) + (" …" if open_[3:] else "")
        raise InputError(
            f"Tick “{STATE}” for {listed}: what was found in your data is not public until you "
            "state it from other knowledge."
        )
    persons = whose is not None
    columns = tuple(_column(n, cards[n], persons=persons) for n in used(cards, order))
    ordered = None if order == ORDERLESS else order
    person = None if whose is None else Person(id=whose, order=ordered)
    return Schema(columns, person=person, dialect=dialect)


def _column(name: str, card: Mapping[str, Any], *, persons: bool) -> Column:
    take = card["take"] if persons else None
    kind, part = card["kind"], card["kind"] if card["kind"] in PARTS else None
    if kind in ("ordered", "unordered", "month"):
        levels = split(card["levels"])
        if part and not levels:
            levels = tuple(str(month) for month in range(1, 13))
        if part and card["gaps"] == LEVEL and card["other"] == NOTHING:
            levels, card = (*levels, "missing"), {**card, "other": "missing"}
        other = card["other"] if card["other"] in levels else None
        kind = "unordered" if part else kind
        return Column(name=name, type=kind, levels=levels, other=other, take=take, part=part)
    try:
        cuts = tuple(float(word) for word in split(card["cuts"]))
    except ValueError:
        raise InputError(f"The cut points of {show(name)} are numbers with commas.") from None
    if not cuts:
        raise InputError(f"Give {show(name)} at least one cut point.")
    other = {REFUSE: None, LEVEL: LEVEL, NUMBER: card["number"]}[card["gaps"]]
    other = None if take == "count" else other
    return Column(name=name, type="numeric", cuts=cuts, other=other, take=take, part=part)


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
        card["gaps"] = LEVEL
    else:
        card["levels"], card["other"] = " | ".join(facts["levels"]), facts["other"]


# On the page ----------------------------------------------------------------------------


def card_view(column: Found, cards: Mapping[str, Draft], *, key: str, ordering: bool) -> None:
    """One column's card; ``ordering``: it orders the rows of a person and is not used else."""
    card, whose = cards[column.name], person_of(cards)
    with st.container(border=True, key=f"{key}-card"):
        missing = f", {text.count(column.missing, 'cell')} empty" if column.missing else ""
        values = text.count(column.distinct, "value")
        st.markdown(f"**{text.plain(column.name)}**")
        st.caption(f"Found in your rows, not public: {values}{missing}.")
        if (why := column.why_out()) is not None:
            st.caption(text.plain(f"Left out: {why}."))
        if ordering:
            st.caption("Orders a person's rows, and is not used else.")
            return
        with st.container(horizontal=True):
            if not card["person"]:
                bound(st.checkbox, OUT, card, "out", key=f"{key}-out")
            many = column.distinct > FEW and column.kind not in ("numeric", "date")
            if many and whose in (None, column.name):
                bound(
                    st.checkbox,
                    WHOSE,
                    card,
                    "person",
                    key=f"{key}-person",
                    help="Where a person has many rows (visits, purchases): the guarantee is then "
                    "about persons, and each card says how their rows become one.",
                )
        if card["person"]:
            st.caption("Says whose a row is. It is given out nowhere.")
        elif not card["out"]:
            _stating(column, card, key=key, persons=whose is not None)


def _stating(column: Found, card: Draft, *, key: str, persons: bool) -> None:
    left, right = st.columns(2, gap="small")
    with left:
        kinds = [k for k in KINDS if k not in PARTS or column.kind == "date"]
        bound(
            st.selectbox,
            "What it is",
            card,
            "kind",
            key=f"{key}-kind",
            options=kinds,
            format_func=KINDS.__getitem__,
        )
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
    numeric = card["kind"] in ("numeric", "year")
    with left:
        bound(
            st.text_input,
            "Cut points" if numeric else "Levels",
            card,
            "cuts" if numeric else "levels",
            key=f"{key}-{'cuts' if numeric else 'levels'}",
            help="Three cut points make four levels; a value on one belongs above it."
            if numeric
            else "Parted by | or by commas; in their order where they have one.",
        )
    levels = [*split(card["levels"]), NOTHING]
    if card["other"] not in levels:
        card["other"] = NOTHING
    with right:
        if numeric:
            _number_gaps(card, key)
        else:
            bound(
                st.selectbox,
                "Empty and all else is",
                card,
                "other",
                key=f"{key}-other",
                options=levels,
            )


def _number_gaps(card: Draft, key: str) -> None:
    bound(
        st.selectbox,
        "What is no number",
        card,
        "gaps",
        key=f"{key}-gaps",
        options=list(GAPS),
        format_func=GAPS.__getitem__,
    )
    if card["gaps"] == NUMBER:
        bound(st.number_input, "That number", card, "number", key=f"{key}-number", format="%g")
