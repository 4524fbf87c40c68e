"""The columns of a person's own table, a card each."""

from __future__ import annotations

import json

import streamlit as st

from engine import InputError
from engine.data.column import Dialect
from engine.data.draft import Found
from engine.data.schema import Schema
from pages import files
from pages.data import cards
from pages.files import Upload
from pages.shell import export, reading
from pages.shell import words as text
from pages.shell.data import OwnFile, own_data, own_file
from pages.shell.drafts import Draft, kept
from pages.shell.form import bound
from pages.shell.task import drop, find, watch

ABOUT = (
    "A guarantee protects what is in the rows; what a column can hold counts as public, so it must "
    "not be read off the rows: state it from what you know beside them (a codebook, the "
    "questionnaire, common sense). The cards start from your rows, which are not public: correct "
    "each, and tick “I state this”."
)
OPEN = (
    "Nothing is stated of this table yet: what its columns can hold was found in its rows, so no "
    "run on it has a guarantee."
)
START = "State each column (starts from exact values found in your rows, which are not private)"
_LOOK = "columns"


def builder() -> None:
    """Cards and the schema's file; nothing where no file of one's own is there."""
    file = own_file()
    if file is None:
        return
    data = own_data()
    if data is not None and data.declared:
        st.success(
            "This table is read by the schema that you stated: strict runs have a guarantee."
        )
    elif data is not None:  # else the page says why the file could not be read
        st.warning(OPEN)
    if st.toggle(START, key="schema-open"):
        st.caption(ABOUT)
        try:
            if _looked_at(file):
                _cards(file)
        except InputError as error:
            st.error(text.plain(str(error)))
    else:
        drop(_LOOK)
    if file.schema is not None:
        content = json.dumps(file.schema.to_json(), ensure_ascii=False, indent=1)
        export.download("Schema (JSON)", lambda: content, f"{file.stem}_schema.json", key="schema")


def _take(file: OwnFile, schema: Schema) -> None:
    """Read the table by a schema, and look at it anew."""
    reading.begin(file, file.by(schema))
    st.rerun()


def _looked_at(file: OwnFile) -> bool:
    """Whether it is known what the table's columns look like; how far that is, or why it is not.

    They are looked at once a file; InputError in one sentence for one that is no table.
    """
    if file.proposal is not None:
        return True
    table = Upload(file.name, file.raw)
    if not files.large(table):
        file.proposal = files.columns(table)
        return True
    task = find(_LOOK)
    if task is None or task.about is not file:
        reading.read(_LOOK, table, files.columns, table, about=file)
    task = watch(_LOOK)
    if task is None:
        return False
    if task.problem:
        raise InputError(reading.problem(task))
    file.proposal = task.result
    drop(_LOOK)
    return True


def _found(file: OwnFile) -> tuple[tuple[Found, ...], Dialect]:
    """What the table's columns look like, once that is known, and how its text is written."""
    found: tuple[tuple[Found, ...], Dialect] = file.proposal
    return found


def drafts_of(file: OwnFile) -> dict[str, Draft]:
    """The cards' values, made once a file."""
    kept_for: dict[str, dict[str, Draft]] = kept("cards", {})  # type: ignore[assignment]
    if file.identity not in kept_for:
        kept_for.clear()
        kept_for[file.identity] = cards.drafts(_found(file)[0])
    return kept_for[file.identity]


def _cards(file: OwnFile) -> None:
    (found, dialect), drafts = _found(file), drafts_of(file)
    names = [column.name for column in found]
    order = _order(names, drafts)
    for start in _turned(names):
        here = found[start : start + cards.A_PAGE]
        for pair in zip(here[::2], [*here[1::2], None], strict=False):
            for place, column in zip(st.columns(2, gap="medium"), pair, strict=True):
                if column is not None:
                    key, ordering = f"card-{names.index(column.name)}", column.name == order
                    with place:
                        cards.card_view(column, drafts, key=key, ordering=ordering)
    left = cards.waiting(drafts, order)
    said = len(cards.used(drafts, order)) - len(left)
    st.caption(
        f"{said} of the used columns are stated by you (public); {len(left)} are as found in "
        "your data (not public)."
    )
    if st.button("Read the table by this schema", key="schema-use", type="primary"):
        _take(file, cards.schema_of(drafts, dialect, order))


def _order(names: list[str], drafts: dict[str, Draft]) -> str:
    """Which column orders a person's rows, where a person has many."""
    if (whose := cards.person_of(drafts)) is None:
        return cards.ORDERLESS
    rule = kept("cards_rule", {"order": cards.ORDERLESS})
    options = [cards.ORDERLESS, *(name for name in names if name != whose)]
    if rule["order"] not in options:
        rule["order"] = cards.ORDERLESS
    return str(
        bound(
            st.selectbox,
            "What orders a person's rows",
            rule,
            "order",
            key="cards-order",
            options=options,
            help="A column of dates or numbers: first and last go by it.",
        )
    )


def _turned(names: list[str]) -> list[int]:
    """Where the cards on screen begin: all of them, or the page of them that is chosen."""
    starts = list(range(0, len(names), cards.A_PAGE))
    if len(starts) < 2:
        return starts
    turn = kept("cards_turn", {"start": 0})
    if turn["start"] not in starts:
        turn["start"] = 0
    bound(
        st.segmented_control,
        "Columns",
        turn,
        "start",
        key="cards-turn",
        options=starts,
        format_func=lambda s: f"{s + 1}–{min(s + cards.A_PAGE, len(names))}",
        required=True,
    )
    return [int(turn["start"])]
