"""The dialog on background knowledge: tiers to drag between, pairs to forbid or require."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from engine import Dataset, InputError, Knowledge, load_knowledge
from engine.graphs.cpdag import matrix_of
from engine.graphs.known import Known, ready_sets
from engine.knowledge import FULL, MOST_BYTES, ORIENTS
from pages import mode
from pages.shell import words as text
from pages.shell.export import download
from pages.shell.form import placed
from pages.shell.settings import draft_known, drafted_known, drafted_source
from pages.shell.state import Place
from pages.shell.task import OPEN

_BOARD = "known-board"
_PROBLEM: Place[str | None] = Place("known-problem")  # why the last change was refused
_USES = {
    FULL: "Tests and directions: fewer tests, but a false tier costs links",
    ORIENTS: "Directions only: a false tier costs no links, but as many arrows are wrong",
}
# Marginal PC at ε = 1 (research/knowledge.md): the number of wrong arrows among 100 on true links,
# and the points of skeleton F1 that a false tier costs with tests and directions.
WRONG, LOST = {"none": 4, FULL: 14, ORIENTS: 14}, 5
_FALSE_TIER = (
    f"One false tier, measured: {WRONG[FULL]} of 100 arrows were wrong, and {WRONG[ORIENTS]} with "
    f"directions only. Without tiers it was {WRONG['none']}. With tests and directions it also "
    f"cost {LOST} points of skeleton F1. If you are not sure about a column, leave it in no tier."
)
PUBLIC = (
    "Background knowledge that you declare, not read from the rows. It is public, costs no ε, and "
    "leaves the guarantee as it is."
)


@st.dialog("Background knowledge", width="large", on_dismiss="rerun")
def known_dialog(data: Dataset) -> None:
    """Show the form's background knowledge about a dataset with these columns."""
    OPEN.put(True)
    st.caption(PUBLIC)
    known = drafted_known(drafted_source()) or Knowledge()
    change = partial(replace, known)
    if data.truth is not None:
        with st.container(horizontal=True, gap="xsmall"):
            for name, found in {"nothing": Knowledge(), **ready_sets(data.truth)}.items():
                true = partial(Knowledge, tiers=found.tiers, use=known.use)
                st.button(name.capitalize(), key=f"known-{name}", on_click=_keep, args=(true,))
    about: Any = {"options": list(_USES), "format_func": _USES.__getitem__, "key": "known-use"}
    placed(st.radio, "Use it for", known.use, lambda use: _keep(partial(change, use=use)), **about)
    st.caption(_FALSE_TIER)
    _board(data, known, change)
    if problem := _PROBLEM.get():
        st.error(text.plain(problem))
    st.markdown(fixed_words(data, known))
    if not mode.public():
        _files(data, known)


def _keep(made: Callable[[], Knowledge]) -> None:
    """Keep the made knowledge as the form's, or say why it is refused."""
    try:
        draft_known(made())
        _PROBLEM.put(None)
    except InputError as error:
        _PROBLEM.put(str(error))


def _board(data: Dataset, known: Knowledge, change: Callable[..., Knowledge]) -> None:
    """Show the component; keep its facts if they do not contradict each other."""
    from engine.story.modules import bundle, digested, style  # for this dialog only

    content = {
        "names": list(data.names),
        "tiers": [list(tier) for tier in known.tiers],
        "forbidden": sorted(map(list, known.forbidden)),
        "required": sorted(map(list, known.required)),
        "problem": _PROBLEM.get(),  # refused facts are not kept, so the board is drawn again
    }

    def changed() -> None:
        if said := st.session_state[_BOARD].get("known"):
            _keep(partial(change, **{k: said[k] for k in ("tiers", "forbidden", "required")}))

    script = f"{bundle('board', 'dom')}\nexport default modules.dom.mount(modules.board.Board);"
    component = st.components.v2.component("known", js=script, css=style("board"))
    component(key=_BOARD, data=digested(content), on_known_change=changed)


def fixed_words(data: Dataset, known: Knowledge) -> str:
    """Return the number of directions that it fixes, because these are not findings."""
    on = Known(known, data.names)
    if data.truth is not None:
        turned, links = on.fixed(matrix_of(data.truth, data.names))
        return f"Background knowledge alone fixes **{turned} of {links}** true directions."
    turned, pairs = on.fixed(~np.eye(len(data.names), dtype=bool) & ~on.apart)
    return f"Background knowledge alone fixes the direction of **{turned} of {pairs}** pairs."


def given_knowledge(title: str, **options: Any) -> Any:
    """Draw the upload of a file with background knowledge, and return the file."""
    most = MOST_BYTES // 1_000_000
    return st.file_uploader(title, ["json", "txt", "prior"], max_upload_size=most, **options)


def _files(data: Dataset, known: Knowledge) -> None:
    def read() -> None:
        _PROBLEM.put(None)
        if (file := st.session_state["known-file"]) is not None:
            _keep(lambda: Known(load_knowledge(file.getvalue()), data.names).knowledge)

    given_knowledge("From a file: ours (JSON) or Tetrad's", key="known-file", on_change=read)
    if known:
        content = json.dumps(known.to_json(), indent=1)
        download("Save (JSON)", lambda: content, "known.json", key="known-save")
