"""Run one algorithm on one dataset; see what it found, what it cost, and why."""

from __future__ import annotations

import streamlit as st

from pages.run.form import settings_form
from pages.run.top import ABOUT, has_price, notice, price_view
from pages.run.view import outcome
from pages.shell import runs
from pages.shell.drafts import drafted
from pages.shell.strip import show_strip


def main() -> None:
    """The page, top to bottom."""
    runs.follow()
    runs.shown()
    with st.sidebar:
        if settings_form():
            with st.spinner("Running …", show_time=True):
                runs.freeze(drafted())
    now = drafted()
    if runs.stale(now) and runs.quick(now):
        runs.freeze(now)
    job, run = runs.job(), runs.shown()
    runs.write_link(job.about.settings if job is not None else run.settings)
    show_strip("Run", run.data, run.result)
    st.caption(ABOUT)
    old = runs.stale(now) or job is not None
    with st.container(key="notice"):
        if job is not None:
            runs.progress_view()
        else:
            notice(run, old)
    st.html(f"<style>.st-key-result{{opacity:{0.4 if old else 1}}}</style>")
    with st.container(key="result"):
        place = outcome(run, priced=has_price(run))
    with place:
        price_view(run)


main()
