"""Many runs at once: what privacy costs as ε, the algorithm and the seed change."""

from __future__ import annotations

import streamlit as st

from pages.components import text
from pages.components.forms import study
from pages.components.forms.study_start import saved_studies, start_bar
from pages.components.shell import draw
from pages.components.state import runs
from pages.components.state.study_jobs import current, known_datasets, refused
from pages.components.views.strip import show_strip
from pages.components.views.study import study_view

EVERY = 1.0  # seconds between two looks at a running study


def main() -> None:
    """The page, top to bottom."""
    run = runs.shown()
    with st.sidebar:
        study.settings_form()
        start_bar(study.draft())
        saved_studies()
    job = current()
    # The strip is about the study's own data if it has any, else about its first dataset.
    data = min(known_datasets(job), key=lambda found: found.public, default=run.data)
    show_strip("Sweep", data, run.result if data.fingerprint == run.data.fingerprint else None)
    if problem := refused():
        st.error(text.plain(problem), icon=":material/error:")
    # A running study looks again every second; what the page shows is the same either way.
    st.fragment(study_view, run_every=EVERY if job.running else None)(job.running)


draw(main)
