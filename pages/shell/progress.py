"""How far a long run is, and a button that stops it."""

from __future__ import annotations

import streamlit as st

from engine.registry import algorithm
from pages.shell import runs
from pages.shell import words as text
from pages.shell.palette import RUNNING
from pages.shell.worker import RunJob

EVERY = 1.0  # seconds between looks: each takes time from the run itself

_BAR = f"""<div role="progressbar" aria-label="Running" style="height:6px;border-radius:3px;
background:rgba(128,140,160,.3);overflow:hidden"><div style="height:6px;width:30%;border-radius:3px;
background:{RUNNING};animation:run-bar 1.4s ease-in-out infinite alternate"></div></div>
<style>@keyframes run-bar{{from{{margin-left:0}}to{{margin-left:70%}}}}</style>"""


@st.fragment(run_every=EVERY)
def progress_view() -> None:
    """The session's running job; when it has ended, the whole page is drawn anew."""
    job = runs.job()
    if job is None:
        st.rerun()
    with st.container(key="progress", horizontal=True, vertical_alignment="center"):
        with st.container():
            st.html(_BAR)
            st.markdown(words(job))
        st.button(
            "Stopping …" if job.stopping else "Cancel",
            key="cancel-run",
            icon=":material/stop_circle:",
            on_click=runs.cancel,
            disabled=job.stopping,
            help="Stops the run and shows what was decided until then.",
            width=140,
        )


def words(job: RunJob) -> str:
    """What the job is doing, in one line of Markdown."""
    what = f"{algorithm(job.key).title} on {text.plain(text.dataset_title(job.data))}"
    if job.place and not job.stopping:
        return f"Waiting for a turn: **{what}** · place {job.place} in line"
    parts = [f"{'Stopping' if job.stopping else 'Running'} **{what}**"]
    if job.order is not None:
        parts.append(f"order {job.order}")
    if job.steps:
        parts.append(text.count(job.steps, "step"))
    return " · ".join([*parts, f"{job.seconds:.0f} s"])
