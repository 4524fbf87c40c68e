"""The columns of a person's own table: a codebook that states them all, or a card each."""

from __future__ import annotations

import json
from collections.abc import Mapping

import streamlit as st

from engine import InputError
from engine.data.codebook import read_codebook
from engine.data.schema import MOST_BYTES, Schema
from engine.data.survey import ROWS, Found
from pages import files
from pages.data import cards
from pages.files import Upload
from pages.shell import export, reading
from pages.shell import words as text
from pages.shell.data import OwnFile, own_data, own_file
from pages.shell.drafts import Draft, kept
from pages.shell.form import bound
from pages.shell.session import Place
from pages.shell.task import drop, find, watch

ABOUT = (
    "A guarantee protects what is in the rows; what a column can hold counts as public, so it must "
    "not be read off the rows: state it from what you know beside them (a codebook, the "
    f"questionnaire, common sense). The cards start from the first {ROWS:,} rows, which are not "
    "public: correct each, and tick “I state this”."
)
OPEN = (
    "Nothing is stated of this table yet: what its columns can hold was found in its rows, so no "
    "run on it is defended."
)
START = "State each column (starts from exact values found in your rows, which are not private)"
_BOOK: Place[str] = Place("codebook_seen", str)
_LOOK = "columns"


def builder() -> None:
    """Codebook, cards and the schema's file; nothing where no file of one's own is there."""
    file = own_file()
    if file is None:
        return
    data = own_data()
    if data is not None and data.declared:
        st.success("This table is read by the schema that you stated: strict runs are defended.")
    elif data is not None:  # else the page says why the file could not be read
        st.warning(OPEN)
    _codebook(file)
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


def _codebook(file: OwnFile) -> None:
    """A codebook states all columns at once."""
    book = st.file_uploader(
        "A codebook, which states all columns at once (CSV or JSON)",
        type=["csv", "txt", "json"],
        key="codebook",
        max_upload_size=MOST_BYTES // 1_000_000,
        help="One line a column (name, type, levels, cuts, other), or one line a level.",
    )
    if book is None or _BOOK.get() == book.file_id:
        return
    _BOOK.put(book.file_id)
    try:
        _take(file, read_codebook(Upload(book.name, book.getvalue()).open()))
    except InputError as error:
        st.error(text.plain(str(error)))


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


def found_in(file: OwnFile) -> tuple[Found, ...]:
    """What the table's columns look like, once that is known."""
    found: tuple[Found, ...] = file.proposal
    return found


def drafts_of(file: OwnFile) -> dict[str, Draft]:
    """The cards' values, made once a file."""
    kept_for: dict[str, dict[str, Draft]] = kept("cards", {})  # type: ignore[assignment]
    if file.identity not in kept_for:
        kept_for.clear()
        kept_for[file.identity] = cards.drafts(found_in(file))
    return kept_for[file.identity]


def _cards(file: OwnFile) -> None:
    found, drafts = found_in(file), drafts_of(file)
    rule = kept("cards_rule", {"whose": cards.EACH, "order": cards.ORDERLESS})
    _persons(found, rule)
    _gaps(found, drafts)
    names = [column.name for column in found]
    for start in _turned(names):
        here = found[start : start + cards.A_PAGE]
        for pair in zip(here[::2], [*here[1::2], None], strict=False):
            for place, column in zip(st.columns(2, gap="medium"), pair, strict=True):
                if column is not None:
                    at = names.index(column.name)
                    with place:
                        _card(column, drafts[column.name], rule, f"card-{at}")
    _finish(file, drafts, rule)


def _card(column: Found, card: Draft, rule: Mapping[str, str], key: str) -> None:
    if column.name == rule["whose"]:
        with st.container(border=True):
            st.markdown(f"**{text.plain(column.name)}**")
            st.caption("Says whose a row is. It is given out nowhere.")
        return
    cards.card_view(column, card, key=key, persons=rule["whose"] != cards.EACH)


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


def _persons(found: tuple[Found, ...], rule: Draft) -> None:
    """Whether a person has many rows, and which column says whose they are."""
    names = [column.name for column in found]
    left, right = st.columns(2, gap="medium")
    with left:
        bound(
            st.selectbox,
            "Whose a row is",
            rule,
            "whose",
            key="cards-whose",
            options=[cards.EACH, *names],
            help="Where a person has many rows (visits, purchases), the column of ids: the "
            "guarantee is then about persons, and each card says how their rows become one.",
        )
    if rule["whose"] == cards.EACH:
        return
    with right:
        bound(
            st.selectbox,
            "What orders a person's rows",
            rule,
            "order",
            key="cards-order",
            options=[cards.ORDERLESS, *(n for n in names if n != rule["whose"])],
            help="A column of dates or numbers: first and last go by it.",
        )


def _gaps(found: tuple[Found, ...], drafts: dict[str, Draft]) -> None:
    """One question about missing values, for all columns that have some."""
    some = [column.name for column in found if column.missing]
    if not some:
        return
    listed = ", ".join(map(text.plain, some[:3])) + (" …" if some[3:] else "")
    st.markdown(f"**Some values of {listed} are missing. What do they count as?**")
    with st.container(horizontal=True):
        if st.button("A level of their own, in all of them", key="gaps-level"):
            cards.answer_gaps(drafts, found, cards.OWN_LEVEL)
            st.rerun()
        st.caption("Or say it on each column's card.")


def _finish(file: OwnFile, drafts: dict[str, Draft], rule: Mapping[str, str]) -> None:
    skipped = (rule["whose"], rule["order"]) if rule["whose"] != cards.EACH else ()
    left = [name for name in cards.waiting(drafts) if name not in skipped]
    said = len([name for name in cards.used(drafts) if name not in skipped]) - len(left)
    st.caption(
        f"{said} of the used columns are stated by you (public); {len(left)} are as found in "
        "your data (not public)."
    )
    if st.button("Read the table by this schema", key="schema-use", type="primary"):
        _take(file, cards.schema_of(drafts, rule["whose"], rule["order"]))
