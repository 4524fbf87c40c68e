"""Many runs at once: what privacy costs as ε, the algorithm and the seed change."""

from __future__ import annotations

import streamlit as st

from pages.shell import runs
from pages.shell.strip import show_refusal, show_strip
from pages.sweep import form as study
from pages.sweep.jobs import current, known_datasets
from pages.sweep.start import saved_studies, start_bar
from pages.sweep.view import state_view, study_view

DRAW_EVERY = 6.0  # seconds between two drawings of what it has found


def main() -> None:
    """The page, top to bottom."""
    run = runs.shown()
    study.follow()
    with st.sidebar:
        study.settings_form()
        start_bar(study.draft())
        saved_studies()
    job = current()
    # The strip is about the study's own data if it has any, else about its first dataset.
    data = min(known_datasets(job), key=lambda found: found.public, default=run.data)
    show_strip("Sweep", data, run.result if data.identity == run.data.identity else None)
    show_refusal("sweep")
    # A running study is looked at again and again: its state often, its charts, which take time
    # from it, seldom.
    state_view()
    st.fragment(study_view, run_every=DRAW_EVERY if job.running else None)()
    study.keep_address()


main()
