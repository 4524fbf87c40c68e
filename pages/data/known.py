"""What counts as known of a person's table before any run."""

from __future__ import annotations

import streamlit as st

from engine.release.file import neighbours
from pages.shell import journey, knowledge
from pages.shell import words as text
from pages.shell.data import own_data, own_file


def view() -> None:
    """The facts that every guarantee takes for public, and what the table is compared with."""
    file, data = own_file(), own_data()
    if file is None or file.schema is None or data is None or not data.declared:
        st.info("State the columns first: what is not stated is not known.")
        return
    schema = file.schema
    if st.session_state.get("known-seen") != file.identity:
        st.session_state["known-seen"] = file.identity
        journey.done("known")
    st.markdown("**What counts as known to everybody**")
    lines = [
        f"There are {data.n:,} {schema.what}. Neighbours: {neighbours(schema)}.",
        f"There are {data.d} columns, with the levels below.",
        "A true graph came with the table, and results are compared with it: such scores are not "
        "private."
        if data.truth is not None
        else "No true graph came with the table, so nothing is scored.",
    ]
    st.markdown("\n".join(f"- {text.plain(line)}" for line in lines))
    st.markdown("**What you know of the causes**")
    st.caption(
        "What cannot come before what, and which links are certain: public, like the columns."
    )
    knowledge.button("data")
    st.markdown("**What each column can hold**")
    rows = [(column.name, " | ".join(column.labels)) for column in schema.columns]
    st.markdown("\n".join(f"- **{text.plain(name)}**: {text.plain(said)}" for name, said in rows))
