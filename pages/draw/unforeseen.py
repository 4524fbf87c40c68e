"""The cells of a person's own table that match no level of their column."""

from __future__ import annotations

import streamlit as st

from engine import Dataset
from pages.draw import show
from pages.shell.own import OWN_AGREED, asks


def unforeseen(data: Dataset, *, key: str) -> None:
    """The cells that match no level, for their owner; a question where many are answers."""
    if not data.unforeseen_cells:
        return
    asked = asks(data)
    with st.expander("Cells that match no level of their column", expanded=asked):
        table = data.unforeseen
        table["share"] = [f"{100 * share:.2g} %" for share in table["share"]]
        show.table(table, alt="Cells that match no level", most=240)
        st.caption("Exact, for your eyes alone; no file that you hand out has it.")
        if asked:
            st.warning(
                "More than 5 % of a column's cells match no level and count as an answer. Is that "
                "what they mean? If not, give the column such a level, or one for missing values.",
                icon=":material/help:",
            )
            if st.button("Yes, count them so", key=f"{key}-agree"):
                OWN_AGREED.put(data.identity)
                st.rerun()
