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
from pages.shell.data import in_force


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


def live() -> None:
    """How far the release is, and what it would cost to stop it."""
    releases.JOB.watch(key="release-stop", more=lambda j: st.info(j.cost_of_stopping()))


def ended() -> None:
    """Why the last release was not made, in one sentence; or the release.

    One that was made of a file before is paid for: it stays, folded away under its own words.
    """
    job, last = releases.JOB.job(), releases.last()
    if job is not None and job.problem and in_force(job.data):
        (st.warning if job.stopped() else st.error)(text.plain(job.problem))
    if last is not None and in_force(last[1]):
        shown(last[0])
    elif last is not None:
        with st.expander("Released before, from another file", key="release-before"):
            shown(last[0])


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
