"""One page for people who know no statistics: a sentence, a graph, a curve, the limits."""

from __future__ import annotations

import streamlit as st

from pages.components.shell import draw
from pages.components.state import address, repeats, runs
from pages.components.state.theme import theme
from pages.components.views import present, report, report_files
from pages.components.views.strip import show_strip

EVERY = 1.5  # seconds between two looks at running repetitions


def main() -> None:
    """The page, top to bottom."""
    runs.follow("report")
    run = runs.shown()
    link = run.settings.to_query()
    if present.presenting():
        link[present.NAME] = "1"
    address.write("report", link)
    with st.container(key="around"):
        show_strip("Report", run.data, run.result)
    present.switch(key="report")
    found = repeats.repeats_of(run)
    going = found is not None and found.running and not found.wait(repeats.PATIENCE)
    st.fragment(_content, run_every=EVERY if going else None)(run, found, going)


def _content(run: runs.Shown, found: repeats.Repeats | None, going: bool) -> None:
    if going and found is not None and found.wait(0.0):
        st.rerun()
    report.show(run, found, report.pictures(run, found, theme()), theme())
    with st.container(key="notes"):
        if not present.presenting():
            report_files.files_view(run, found)


draw(main)
