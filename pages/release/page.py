"""Spend a budget once, on your own data, and hand out a file; or check one that you were given."""

from __future__ import annotations

import streamlit as st

from pages.release import form as release
from pages.release import state as releases
from pages.release import view as views
from pages.shell import dataset, runs, sign
from pages.shell.drafts import drafted_source
from pages.shell.strip import drafted_data, show_strip

ABOUT = (
    "A release is charged to a budget of yours before any noise is drawn, takes its noise from the "
    "operating system with no seed, and leaves one file: the graph, the noisy tables it follows "
    "from, and what it guarantees. Whoever has the file can check without your data whether it is "
    "consistent, and whether it is yours if you sign it."
)


def main() -> None:
    """The page, top to bottom."""
    runs.shown()
    with st.sidebar:
        dataset.picker(key="release")
    data = drafted_data("Release")
    if data is not None:
        show_strip("Release", data)
    st.caption(ABOUT)
    if sign.switched_off():
        pass
    elif data is not None and drafted_source().own:
        views.budgets()
        if releases.JOB.going() is not None:
            views.live()
        else:
            release.spend(data)
            views.ended()
    else:
        st.info("A release is made of your own data: choose “Your own data” in the sidebar.")
    views.checked()


main()
