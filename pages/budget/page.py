"""Where a budget goes: CURATE's orders, Lemma 1's bounds, and the increments of a descent."""

from __future__ import annotations

import streamlit as st

from engine import InputError
from pages.budget import form as budget
from pages.budget.scene import plan_scene
from pages.budget.theory import increments_view, lemma_view
from pages.draw.allocation import orders_view
from pages.shell import dataset, runs
from pages.shell import words as text
from pages.shell.address import keep_fields
from pages.shell.drafts import Draft, drafted_source
from pages.shell.runs import Shown
from pages.shell.session import Place
from pages.shell.strip import show_strip

_SHOWN: Place[Shown | None] = Place("budget_shown")
_OWN: Place[Shown | None] = Place("budget_own")


def main() -> None:
    """The page, top to bottom."""
    runs.shown()
    with st.sidebar:
        dataset.picker(key="budget")
        d = budget.fields()
    run = own_run(d) if drafted_source().own else public_run(d)
    if run is not None:
        show_strip("Budget", run.data, run.result)
        plan_scene(run.data, d)
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
    _SHOWN.put(run)
    return run


def own_run(d: Draft) -> Shown | None:
    """CURATE on a person's own data: only when asked, since each run spends ε anew."""
    last = _OWN.get()
    with st.sidebar:
        st.warning(f"Your own data: each run spends ε = {text.number(d['epsilon'])} anew.")
        pressed = st.button("Run CURATE", key="budget-run", type="primary", width="stretch")
    if pressed:
        try:
            last = runs.compute(budget.settings(d))
            _OWN.put(last)
        except InputError as error:
            return refused(str(error))
    if last is None or last.settings.source != drafted_source():
        return refused("Upload a file if there is none, then press Run CURATE.", problem=False)
    return last


def refused(words: str, *, problem: bool = True) -> Shown | None:
    """One sentence in the place of the chart; the last run on bundled data stays."""
    last = _SHOWN.get() if problem else None
    if last is None:
        st.title("Budget", anchor=False)
    (st.error if problem else st.info)(text.plain(words))
    return last


main()
