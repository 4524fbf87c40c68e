"""A study: how far it is, and what is known so far."""

from __future__ import annotations

from time import monotonic

import pandas as pd
import streamlit as st

from engine.studies import CellResult, analysis
from pages.components import text
from pages.components.forms.study_start import resume
from pages.components.state.study_jobs import StudyJob, current
from pages.components.views.study_curves import X, Y, curve_view, target_view
from pages.components.views.study_edges import stability_view, truth_of
from pages.components.views.study_files import downloads

PAUSE = 2.5  # seconds for which a running study's charts stay as they are
Seen = tuple[StudyJob, list[CellResult], float]


def study_view(was_running: bool) -> None:
    """How far the study is, and what is known so far."""
    job = current()
    if was_running != job.running:
        st.rerun()  # the whole page: look again, or stop looking and free the form
    progress_view(job)
    results = looked_at(job)
    if not results:
        st.info("The first runs are under way." if job.running else "No run is finished yet.")
        return
    results_view(job, results)


def looked_at(job: StudyJob) -> list[CellResult]:
    """The finished runs; of a running study those of a few seconds ago, to leave it the time."""
    now, results = monotonic(), list(job.results)
    seen: Seen | None = st.session_state.get("sweep_seen")
    if job.running and seen and seen[0] is job and seen[1] and now < seen[2] + PAUSE:
        return seen[1]
    st.session_state["sweep_seen"] = (job, results, now)
    return results


@st.cache_data(max_entries=4, show_spinner=False, scope="session")
def tidy(name: str, count: int, last: str, _results: list[CellResult]) -> pd.DataFrame:
    """One row a run; the key changes whenever a run is added."""
    table = analysis.frame(_results)
    for column in ("claimed_epsilon", "spent_epsilon", "skeleton_f1"):
        table[column] = pd.to_numeric(table[column])
    return table


def progress_view(job: StudyJob) -> None:
    """A line on the study's state, a bar while it runs, and Cancel or Resume."""
    left, right = st.columns([5, 1], vertical_alignment="center")
    with left:
        share = job.done / job.total if job.total else 0.0
        words = f"**{text.plain(job.name)}** · {job.done:,} of {text.count(job.total, 'run')}"
        if job.running:
            st.progress(min(1.0, share), text=f"{words} · {_left(job)}")
        else:
            st.markdown(f"{words} · {_state(job)}")
    with right:
        if job.running:
            st.button("Cancel", key="sweep-cancel", on_click=job.cancel, width="stretch")
        elif job.resumable:
            st.button("Resume", key="sweep-resume", on_click=resume, args=(job,), width="stretch")
    if job.error:
        st.error(text.plain(job.error), icon=":material/error:")
    if job.note:
        st.caption(job.note)


def _left(job: StudyJob) -> str:
    p = job.progress
    if p is None or p.left is None or p.done - p.reused < 20:  # starting up tells nothing yet
        return "running"
    return f"about {p.left / 60:.0f} min left" if p.left > 120 else f"about {p.left:.0f} s left"


def _state(job: StudyJob) -> str:
    words = {"finished": "finished", "failed": "stopped by an error"}
    if job.state in words:
        return words[job.state]
    return "cancelled; what is finished is kept" if job.state == "cancelled" else "not finished"


def results_view(job: StudyJob, results: list[CellResult]) -> None:
    """Curves, heat map, smallest ε, files."""
    table = tidy(job.name, len(results), repr(results[-1].cell.key), results)
    names = list(dict.fromkeys(table["dataset"]))
    x, y = controls(table, names)
    chosen = st.session_state.get("sweep-dataset") if len(names) > 1 else names[0]
    chosen = chosen if chosen in names else names[0]
    here = table[table["dataset"] == chosen]
    curve_view(here, x, y)
    mine = [r for r in results if r.dataset == chosen]
    left, right = st.columns([5, 4], gap="medium")
    with left:
        stability_view(mine, truth_of(job, mine[0].fingerprint))
    with right:
        target_view(here, x)
    downloads(job, results, table)


def controls(table: pd.DataFrame, names: list[str]) -> tuple[str, str]:
    """What the axes show, and which dataset; returns (x, y)."""
    with st.container(horizontal=True, gap="large", key="sweep-controls"):
        if len(names) > 1:
            st.selectbox("Dataset", names, key="sweep-dataset", width=220)
        scored = table["skeleton_f1"].notna().any()
        options = list(Y) if scored else list(Y)[1:]
        y = st.segmented_control("Show", options, default=options[0], key="sweep-y", required=True)
        x = st.segmented_control(
            "Against", list(X), default="asked ε", key="sweep-x", required=True
        )
    return x or "asked ε", y or options[0]
