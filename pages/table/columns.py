"""The columns of a user's table: one card per column, and the background knowledge."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import streamlit as st

from engine import Dataset, InputError
from engine.data.draft import Found
from engine.data.schema import Schema
from engine.data.sources import BOOKS
from engine.release.file import neighbours
from pages import worker
from pages.draw import show
from pages.forms import known_button
from pages.shell import export, journey, own
from pages.shell import words as text
from pages.shell.form import beside, bound, placed, refusals
from pages.shell.settings import OWN_DATA, OWN_PROBLEM, OwnFile
from pages.shell.state import Draft, Place, session_values
from pages.shell.task import drop, find, watch
from pages.table import cards

ABOUT = (
    "Rows are protected; possible values are public. Take them from your questionnaire. Each card "
    "says whether its facts are inferred from your data, uploaded or declared: correct each, and "
    "tick “I declare this”."
)
OPEN = (
    "Nothing is declared about this table yet. The levels of its columns are inferred from its "
    "rows, so no run on it has a guarantee."
)
START = "Edit the columns (shows exact values of your rows, only for you)"
ONE, MANY = "No, each row is another person", "Yes"
SEVERAL = "Can one person have several rows?"
VOUCH = (
    "You then declare that you know the values of each used column from a source other than these "
    "rows."
)
UNSCORED = "No true graph came with the table, so nothing is scored."
SCORED = (
    "A true graph came with the table, and results are compared with it: such scores are not "
    "private."
)
_LOOK = "columns"


def builder(file: OwnFile) -> None:
    """Draw the cards and the schema's file."""
    data = OWN_DATA.get()
    if data is not None and data.declared:
        st.success("This table is read with a declared schema, so strict runs have a guarantee.")
    elif data is not None:  # otherwise the page says why the file could not be read
        st.warning(OPEN)
    if st.toggle(START, key="schema-open"):
        st.caption(ABOUT)
        with refusals():
            if _looked_at(file):
                _cards(file)
    else:
        drop(_LOOK)
    if file.schema is not None:
        content = json.dumps(file.schema.to_json(), ensure_ascii=False, indent=1)
        name = f"{Path(file.upload.name).stem}_schema.json"
        export.download("Schema (JSON)", lambda: content, name, key="schema")


def _looked_at(file: OwnFile) -> bool:
    """Return whether the table's columns have been examined, once per file; show the progress.

    Raises InputError for a file that is not a table.
    """
    if file.proposal is None:
        if (task := find(_LOOK)) is None or task.about is not file:
            own.read(_LOOK, worker.columns, file.upload, about=file)
        if (task := watch(_LOOK)) is None:
            return False
        if task.problem:
            raise InputError(own.problem(task))
        file.proposal = task.result
        drop(_LOOK)
    return True


def _cards(file: OwnFile) -> None:
    found, dialect = file.proposal
    known = session_values("cards", {})
    force = None if file.schema is None else replace(file.schema, rows=None)
    of = file.identity, force
    if known.get("of") != of and (force is None or known.get("used") != force):
        known.clear()  # another file, or an uploaded schema
        known["drafts"] = cards.drafts(found, force)
    known["of"], drafts = of, known["drafts"]
    origin = "Declared" if force == known.get("used") else "Uploaded"
    many = _several(found, known)
    order, rows = _order(known, force), _rows(file, drafts)
    for place, (j, column) in beside(_turned(found), gap="medium"):
        name, public = column.name, () if force is None else force.names
        about: Any = {"ordering": name == order, "origin": origin if name in public else ""}
        with place:
            cards.card_view(column, drafts, key=f"card-{j}", many=many, **about)
    left = cards.waiting(drafts, order)
    st.caption(
        f"{len(cards.used(drafts, order)) - len(left)} of the used columns are declared (public); "
        f"{len(left)} are inferred from your data (not public)."
    )

    def declare() -> None:
        for name in left:
            drafts[name]["declared"] = True

    if left:
        st.button("Declare all as shown", key="schema-all", on_click=declare, help=VOUCH)
        st.caption(VOUCH)

    def use() -> None:
        try:
            schema = cards.schema_of(drafts, dialect, order, rows, force)
            known["used"] = replace(schema, rows=None)
            own.begin(file, schema)
        except InputError as error:
            OWN_PROBLEM.put(str(error))

    st.button("Read the table with this schema", key="schema-use", type="primary", on_click=use)
    if (problem := OWN_PROBLEM.get()) and find(own.TASK) is None:
        st.error(text.plain(problem))


def _several(found: Sequence[Found], known: Draft) -> bool:
    """Ask first whether a person can have several rows; a column that looks like an id is shown."""
    drafts = known["drafts"]
    likely = [one for one in found if one.call == "by_person"][:1]
    answer = known.setdefault("several", ONE if cards.person_of(drafts) is None else MANY)

    def keep(said: str) -> None:
        known["several"] = said
        for name, card in drafts.items():
            card["person"] = said == MANY and name in [one.name for one in likely]

    said = "The guarantee is about rows, or about persons with all of their rows."
    shown: dict[str, Any] = {"options": (ONE, MANY), "help": said, "horizontal": True}
    placed(st.radio, SEVERAL, answer, keep, key="cards-several", **shown)
    for one in likely:
        st.caption(text.plain(f"{one.name}: one value has up to {one.repeats:,} rows."))
    return bool(known["several"] == MANY)


def _order(known: Draft, force: Schema | None) -> str:
    """Draw the choice of the column that orders a person's rows, if a person has several, and
    return it."""
    drafts = known["drafts"]
    if (person := cards.person_of(drafts)) is None:
        return cards.ORDERLESS
    options = [cards.ORDERLESS, *(name for name in drafts if name != person)]
    start = next((n for n in options[1:] if drafts[n]["kind"] == cards.YEAR), cards.ORDERLESS)
    if force is not None and force.person is not None:
        start = force.person.order or cards.ORDERLESS
    title, about = "Order of a person's rows", {"options": options, "start": start}
    said = "A column of dates or numbers. It decides which row is first or last."
    return str(bound(st.selectbox, title, known, "order", key="cards-order", help=said, **about))


def _rows(file: OwnFile, drafts: dict[str, Draft]) -> int | None:
    """Draw the number of rows of a workbook, which does not store blank rows at its end, and return
    it."""
    data, book = OWN_DATA.get(), Path(file.upload.name).suffix.lower() in BOOKS
    if data is None or not book or cards.person_of(drafts) is not None:
        return None
    said = "Declare this public number, because a workbook does not store blank rows at its end."
    return int(st.number_input("Rows", 2, value=data.n, key="cards-rows", width=220, help=said))


def _turned(found: Sequence[Found]) -> list[tuple[int, Found]]:
    """Return the columns on the chosen page of cards, with their positions."""
    starts, start = range(0, len(found), cards.A_PAGE), 0
    if len(starts) > 1:
        said = lambda s: f"{s + 1} to {min(s + cards.A_PAGE, len(found))}"  # noqa: E731
        about: dict[str, Any] = {"default": 0, "required": True, "key": "cards-turn"}
        start = st.segmented_control("Columns", starts, format_func=said, **about) or 0
    return list(enumerate(found))[start : start + cards.A_PAGE]


def known_view(schema: Schema | None) -> None:
    """Show the facts that every guarantee treats as public and that the table must fit."""
    data = OWN_DATA.get()
    if schema is None or data is None or not data.declared:
        st.info("Declare the columns first.")
        return
    journey.mark_done("known")
    st.markdown("**Public facts**")
    st.markdown(
        f"- There are {data.n:,} {schema.what}. Neighbours: {neighbours(schema)}.\n"
        f"- There are {data.d} columns, with the levels below.\n"
        f"- {UNSCORED if data.truth is None else SCORED}"
    )
    st.markdown("**Background knowledge**")
    st.caption(
        "Declare which columns cannot cause which, and which edges are certain. This is public, "
        "like the columns."
    )
    known_button("data")
    st.markdown("**Levels of each column**")
    for column in schema.columns:
        st.markdown(f"- **{text.plain(column.name)}**: {text.plain(' | '.join(column.labels))}")


OWN_AGREED: Place[str] = Place("own_agreed", str)  # the data with agreed unforeseen cells


def asks(data: Dataset) -> bool:
    """Return whether many cells that match no level count as an answer, without agreement."""
    some = any(one.asks for one in data.unforeseen_cells)
    return some and OWN_AGREED.get() != data.identity


def unforeseen(data: Dataset, *, key: str) -> None:
    """Draw the cells that match no level, for their owner, with a question if many count as
    answers."""
    if not data.unforeseen_cells:
        return
    asked = asks(data)
    with st.expander("Cells that match no level of their column", expanded=asked):
        table = data.unforeseen.assign(share=[one.share for one in data.unforeseen_cells])
        show.table(table, alt="Cells that match no level", most=240)
        st.caption("Exact numbers, only for you. No release contains them.")
        if asked:
            st.warning(
                "More than 5 % of a column's cells match no level and count as an answer. If that "
                "is wrong, add a level for them, or one for missing values.",
                icon=":material/help:",
            )
            agree: dict[str, Any] = {"on_click": OWN_AGREED.put, "args": (data.identity,)}
            st.button("Count them as an answer", key=f"{key}-agree", **agree)
