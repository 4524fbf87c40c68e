"""Up to four runs beside each other: graphs on one layout, settings and edges that differ."""

from __future__ import annotations

import streamlit as st

from pages.compare.form import pin_form
from pages.compare.state import follow, keep_address, pins
from pages.compare.view import edges, graphs, scores, settings
from pages.shell import runs
from pages.shell.strip import show_refusal, show_strip


def main() -> None:
    """The page, top to bottom."""
    run = runs.shown()
    with st.spinner("Running …"):
        follow()
        pinned = pins()
    keep_address()
    with st.sidebar:
        pin_form(run, pinned)
    show_strip("Compare", run.data, run.result)
    show_refusal("compare")
    if not pinned:
        st.info("Nothing is pinned. Pin the Run page's result, or add a run, at the left.")
        return
    graphs(pinned)
    left, right = st.columns(2, gap="large")
    with left:
        scores(pinned)
    with right:
        settings(pinned)
    edges(pinned)


main()
