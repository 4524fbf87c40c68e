"""A second file with columns that are added to the user's table by a key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import streamlit as st

from engine import InputError
from pages import worker
from pages.shell import form, own
from pages.shell import words as text
from pages.shell.settings import OwnFile
from pages.shell.state import Draft, session_values

ABOUT = (
    "Each row gets the cells of the second file’s row with the same key, or empty cells if there "
    "is no such row. Each key occurs once in the second file, so no row is repeated. The guarantee "
    "is about the rows of your table; the second file counts as public."
)


def second(file: OwnFile) -> None:
    """Offer to add the columns of a second file; say whose columns were added."""
    if file.upload.other is not None:
        st.success(f"The columns of {text.plain(file.upload.other.name)} were added.")
    box = st.expander("Add columns from a second file", key="join-open", on_change="rerun")
    with box:
        if not box.open:
            return
        st.caption(ABOUT)
        given = st.file_uploader("Second file", type=list(own.KINDS), key="join-file")
        if given is None:
            return
        d, other = session_values("joined", {}), worker.Upload(given.name, given.getvalue())
        mine = replace(file.upload, other=None)
        try:
            if d.get("of") != (file.identity, given.file_id):
                names = [worker.names(one) for one in (mine, other)]
                d.update(of=(file.identity, given.file_id), names=names, problem="")
                d["key"], d["its"] = _usual(*names)
        except InputError as error:
            st.error(text.plain(str(error)))
            return
        titles = "Key in your table", f"Key in {text.plain(given.name)}"
        for place, name, title, options in zip(
            st.columns(2), ("key", "its"), titles, d["names"], strict=True
        ):
            form.bound(place.selectbox, title, d, name, key=f"join-{name}", options=options)
        st.button("Add the columns", key="join-go", on_click=_add, args=(file, mine, other, d))
        if d["problem"]:
            st.error(text.plain(d["problem"]))


def _usual(mine: Sequence[str], its: Sequence[str]) -> tuple[str, str]:
    """Return the first name that both tables have, else the first name of each."""
    both = next((name for name in mine if name in its), None)
    return both or mine[0], both or its[0]


def _add(file: OwnFile, mine: worker.Upload, other: worker.Upload, d: Draft) -> None:
    """Read the table with the columns of the other, undeclared; a join that is refused changes
    nothing.
    """
    both = replace(mine, other=other, keys=(d["key"], d["its"]))
    try:
        worker.names(both)
    except InputError as error:
        d["problem"] = str(error)
        return
    d["problem"] = ""
    file.upload, file.schema, file.proposal = both, None, None
    file.identity = f"{file.identity} {Path(other.name).name}"
    own.begin(file, None)
