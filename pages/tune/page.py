"""From what one must find to what one must pay."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from engine import InputError
from engine.studies.tuning import Least, Tuned
from pages.shell import nothing
from pages.shell import words as text
from pages.tune.form import LEAST, MAP, fields, sources
from pages.tune.map import map_view
from pages.tune.margins import margins_view
from pages.tune.state import JOB, TuneJob, asked_for
from pages.tune.view import ended_view, least_view, setting_view


def main() -> None:
    """The page, top to bottom."""
    st.html("<h1>Tune</h1>")
    st.caption(
        "Good settings for a budget, the least budget for a score, a map of two parameters, or "
        "CURATE's margins by hand: by runs on public networks; what a search finds is told on runs "
        "that it did not use."
    )
    with st.sidebar:
        d = fields()
        if d["goal"] != LEAST:
            nothing.regime([nothing.shape_of(s) for s in sources(d)], [d["epsilon"]])
        pressed = st.button("Search", type="primary", width="stretch", key="tune-go")
    job = _job(d, pressed)
    if job is None:
        return
    if dict(d) != job.asked and not job.running:
        st.info("The fields have changed since: press Search for an answer to them.")
    if job.running:
        JOB.watch(key="tune-stop", more=ended_view)
    elif job.problem:
        st.error(text.plain(job.problem), icon=":material/error:")
        ended_view(job)
    elif job.asked["goal"] == MAP:
        map_view(job)
    elif job.margins is not None:
        margins_view(job, job.margins)
    elif isinstance(job.found, Tuned):
        setting_view(job, job.found)
    elif isinstance(job.found, Least):
        least_view(job, job.found)
    else:
        st.info("Stopped before the first run.")


def _job(d: Mapping[str, Any], pressed: bool) -> TuneJob | None:
    """The search on screen: at first that of the form, later the one asked for."""
    job = JOB.job()
    if pressed or job is None:
        before = job
        try:
            job = asked_for(d)
        except InputError as error:
            st.error(text.plain(str(error)), icon=":material/error:")
            return None
        if before is not None and before is not job:
            before.leave()  # or the new one would wait for its end
        JOB.show(job)
        job.wait(TuneJob.patience)
    return job


main()
