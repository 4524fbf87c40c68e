"""Budgets, a release on screen and as files, and the check of a file."""

from __future__ import annotations

import json

import pandas as pd
import streamlit as st

from engine import InputError
from engine.release.budget import Budget, Budgets
from engine.release.file import NEIGHBOURS, Release, loads, to_json
from engine.release.make import check
from engine.release.page import edge_words, to_html
from engine.release.twin import LABEL, twin
from pages.draw import show
from pages.release import state as releases
from pages.release.form import declare
from pages.shell import export
from pages.shell import words as text


def budgets() -> None:
    """What there is, and a form for a new one."""
    st.markdown("**Your budgets**")
    try:
        found = Budgets().all()
    except InputError as error:
        st.error(text.plain(str(error)))
        return
    if found:
        rows = pd.DataFrame([_row(budget) for budget in found])
        show.table(rows, alt="Budgets and what is left")
    declare(expanded=not found)


def _row(budget: Budget) -> dict[str, str]:
    left = budget.left
    return {
        "Budget": budget.name,
        "ε left": f"{left[0]:f} of {budget.epsilon:f}",
        "δ left": f"{left[1]:.3g} of {budget.delta:.3g}",
        "Releases": str(len(budget.charges)),
    }


@st.fragment(run_every=1.0)
def live() -> None:
    """How far the release is, and a stop button; at the end the whole page is drawn anew."""
    job = releases.job()
    if job is None or not job.running:
        st.rerun()
    paid = f"Charged to “{text.plain(job.name)}”"
    if job.stopped():
        st.info("Stopping …", icon=":material/stop_circle:")
    elif job.charged:
        st.info(f"{paid}; releasing. Stopping now gives no release and keeps the charge.")
    elif job.place:
        st.info(f"Waiting in line, place {job.place}. Nothing is charged yet.")
    else:
        st.info("Trying the request out on empty rows. Nothing is charged yet: stopping is free.")
    st.button("Stop", key="release-stop", on_click=job.cancel, disabled=job.stopped())


def ended() -> None:
    """Why the last release was not made, in one sentence; or the release."""
    job, last = releases.job(), releases.last()
    if job is not None and job.problem:
        (st.warning if job.stopped() else st.error)(text.plain(job.problem))
    if last is not None:
        shown(last)


def shown(release: Release) -> None:
    """Its promise, its edges, its files."""
    epsilon, delta = text.number(release.total.epsilon), text.number(release.total.delta)
    st.success(
        f"Released under (ε, δ) = ({epsilon}, {delta}), charged to “{text.plain(release.name)}”. "
        f"Neighbours: {NEIGHBOURS}."
    )
    edges(release)
    stem = release.name.replace(" ", "_")
    with st.container(horizontal=True):
        export.download(
            "Release (JSON)",
            lambda: json.dumps(to_json(release)),
            f"{stem}_release.json",
            key="release-json",
        )
        st.download_button(
            "For people (HTML)",
            lambda: to_html(release),
            f"{stem}_release.html",
            "text/html",
            key="release-html",
            on_click="ignore",
            icon=":material/download:",
        )
        export.download(
            "Synthetic twin (CSV)",
            lambda: export.as_csv(twin(release, min(release.rows, 100_000)).to_frame()),
            f"{stem}-synthetic-twin.csv",
            key="release-twin",
        )
    st.caption(f"{LABEL} It costs nothing more.")


def edges(release: Release) -> None:
    """The learned edges with their confidence."""
    rows = [{"Edge": words, "Confidence": f"{c:.2f}"} for words, c in edge_words(release)]
    show.table(pd.DataFrame(rows), alt="Edges of the release")


def checked() -> None:
    """Check a release that somebody handed out: no data are needed."""
    st.markdown("**Check a release**")
    file = st.file_uploader("Release file (JSON)", type=["json"], key="check-file")
    if file is None:
        return
    try:
        release = loads(file.getvalue())
        with st.spinner("Deriving the graph again …"):
            check(release)
    except InputError as error:
        st.error(text.plain(str(error)))
        return
    epsilon, delta = text.number(release.total.epsilon), text.number(release.total.delta)
    st.success(
        f"Confirmed: the graph follows from the released numbers alone, and their noise is that "
        f"of (ε, δ) = ({epsilon}, {delta}) for {release.rows:,} records."
    )
    edges(release)
