"""One page for people who know no statistics: a sentence, a graph, a curve, the limits."""

from __future__ import annotations

import streamlit as st

from pages.report import files as report_files
from pages.report import repeats
from pages.report import view as report
from pages.shell import address, present, runs
from pages.shell import words as text
from pages.shell.progress import progress_view
from pages.shell.strip import show_strip
from pages.shell.theme import theme

EVERY = 2.5  # seconds between two looks at running repetitions


def main() -> None:
    """The page, top to bottom."""
    runs.follow("report")
    run = runs.shown()
    job = runs.job()
    link = (run if job is None else job).settings.to_query()
    if present.presenting():
        link[present.NAME] = "1"
    address.write("report", link)
    with st.container(key="around"):
        if job is None:
            show_strip("Report", run.data, run.result)
        else:
            show_strip("Report", job.data)
    present.switch(key="report")
    if job is not None:  # another run's numbers must not stand under this link
        progress_view()
        return
    if problem := runs.refusal():
        st.error(text.plain(problem), icon=":material/error:")
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


main()
