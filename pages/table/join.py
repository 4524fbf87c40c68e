"""A second file with columns that are added to the user's table by a key."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
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
    form.folded("Add columns from a second file", partial(_second, file), key="join-open")


def _second(file: OwnFile) -> None:
    """Draw the second file and the two keys, at first a name that both tables have."""
    st.caption(ABOUT)
    given = st.file_uploader("Second file", type=list(own.KINDS), key="join-file")
    if given is None:
        return
    d, other = session_values("joined", {}), worker.Upload(given.name, given.getvalue())
    mine, of = replace(file.upload, other=None), (file.identity, given.file_id)
    with form.refusals():
        if d.get("of") != of:
            names = [worker.names(one) for one in (mine, other)]
            both = next((name for name in names[0] if name in names[1]), None)
            d.update(of=of, names=names, problem="")
            d.update(key=both or names[0][0], its=both or names[1][0])
        titles = "Key in your table", f"Key in {text.plain(given.name)}"
        rows = zip(("key", "its"), titles, d["names"], strict=True)
        for place, (name, title, options) in form.beside(rows):
            form.bound(place.selectbox, title, d, name, key=f"join-{name}", options=options)
        st.button("Add the columns", key="join-go", on_click=_add, args=(file, mine, other, d))
        if d["problem"]:
            raise InputError(d["problem"])


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
