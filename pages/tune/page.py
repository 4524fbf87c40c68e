"""From what one must find to what one must pay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from engine import InputError
from engine.studies.tuning import Least, Tuned
from pages.shell import nothing
from pages.shell import words as text
from pages.shell.fields import as_word
from pages.tune.form import LEAST, MAP, fields, sources
from pages.tune.state import JOB, TuneJob, asked_for
from pages.tune.view import least_view, map_view, setting, setting_view

OFFERED = 40  # settings to choose from


def main() -> None:
    """The page, top to bottom."""
    st.html("<h1>Tune</h1>")
    st.caption(
        "Good settings for a budget, the least budget for a score, or a map of two parameters: "
        "found by runs on public networks, with the strict guarantee, and told on runs that no "
        "search used."
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
        JOB.watch(key="tune-stop")
    elif job.problem:
        st.error(text.plain(job.problem), icon=":material/error:")
    elif job.asked["goal"] == MAP:
        open_on_run(job, map_view(job))
    elif isinstance(job.found, Tuned):
        open_on_run(job, setting_view(job, job.found))
    elif isinstance(job.found, Least):
        least_view(job, job.found)
    else:
        st.info("Stopped before the first run.")


def _job(d: Mapping[str, Any], pressed: bool) -> TuneJob | None:
    """The search on screen: at first that of the form, later the one asked for."""
    job = JOB.job()
    if pressed or job is None:
        try:
            job = asked_for(d)
        except InputError as error:
            st.error(text.plain(str(error)), icon=":material/error:")
            return None
        JOB.show(job)
        job.wait(TuneJob.patience)
    return job


def open_on_run(job: TuneJob, settings: Sequence[Mapping[str, Any]]) -> None:
    """One of the settings, the best first, as a run of its own on the first network."""
    d = job.asked
    chosen = st.selectbox(
        "Setting",
        range(min(len(settings), OFFERED)),
        format_func=lambda k: setting(d["algorithm"], settings[k]),
        key="tune-setting",
    )
    query = {"data": d["networks"][0], "n": d["n"], "algorithm": d["algorithm"]}
    query |= {"epsilon": d["epsilon"], "guarantee": "strict", **settings[chosen or 0]}
    words = {name: as_word(value) for name, value in query.items()}
    if st.button("Open it on Run", key="tune-open", icon=":material/play_arrow:"):
        st.switch_page("pages/run/page.py", query_params=words)


main()
