"""Where a budget goes: CURATE's orders, Lemma 1's bounds, and the increments of a descent."""

from __future__ import annotations

import streamlit as st

from engine import InputError
from pages.budget import form as budget
from pages.budget.theory import increments_view, lemma_view
from pages.draw.allocation import orders_view
from pages.shell import dataset, runs
from pages.shell import words as text
from pages.shell.address import keep_fields
from pages.shell.drafts import Draft, drafted_source
from pages.shell.runs import Shown
from pages.shell.strip import show_strip


def main() -> None:
    """The page, top to bottom."""
    runs.follow_source("budget")
    runs.shown()
    with st.sidebar:
        dataset.picker(key="budget")
        d = budget.fields()
    run = own_run(d) if drafted_source().own else public_run(d)
    if run is not None:
        show_strip("Budget", run.data, run.result)
        orders_view(run)
    lemma_view(d)
    increments_view(d)
    keep_fields("budget", budget.Fields, d)


def public_run(d: Draft) -> Shown | None:
    """CURATE on bundled data: run, or looked up."""
    try:
        with st.spinner("Running CURATE …"):
            run = runs.compute(budget.settings(d))
    except InputError as error:
        return refused(str(error))
    st.session_state["budget_shown"] = run
    return run


def own_run(d: Draft) -> Shown | None:
    """CURATE on a person's own data: only when asked, since each run spends ε anew."""
    last: Shown | None = st.session_state.get("budget_own")
    with st.sidebar:
        st.warning(f"Your own data: each run spends ε = {text.number(d['epsilon'])} anew.")
        pressed = st.button("Run CURATE", key="budget-run", type="primary", width="stretch")
    if pressed:
        try:
            last = st.session_state["budget_own"] = runs.compute(budget.settings(d))
        except InputError as error:
            return refused(str(error))
    if last is None or last.settings.source != drafted_source():
        return refused("Upload a file if there is none, then press Run CURATE.", problem=False)
    return last


def refused(words: str, *, problem: bool = True) -> Shown | None:
    """One sentence in the place of the chart; the last run on bundled data stays."""
    last: Shown | None = st.session_state.get("budget_shown") if problem else None
    if last is None:
        st.title("Budget", anchor=False)
    (st.error if problem else st.info)(text.plain(words))
    return last


main()
