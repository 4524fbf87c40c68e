"""Start, resume or open a study."""

from __future__ import annotations

from typing import Any

import streamlit as st

from engine import InputError
from engine.registry import ALGORITHMS
from pages.shell import nothing
from pages.shell import words as text
from pages.shell.data import own_data
from pages.shell.drafts import Draft
from pages.shell.form import bound
from pages.shell.strip import refuse
from pages.sweep import jobs as study_jobs
from pages.sweep.form import draft, wanted_now
from pages.sweep.handed import ADDED, add_saved, file_view, open_saved
from pages.sweep.jobs import StudyJob, current
from pages.sweep.state import Wanted


def start_bar(d: Draft) -> None:
    """What the study would take, its name, and the button."""
    try:
        wanted = wanted_now()
        with st.spinner("Estimating …"):
            cost = study_jobs.estimated(wanted)
    except InputError as error:
        st.warning(text.plain(str(error)))
        return
    seconds = text.number(cost.seconds, 2)
    least = "at least " if cost.at_least else "about "
    st.caption(f"{text.count(cost.cells, 'run')}, {least}{seconds} s on one core.")
    if dict(wanted.params).get("guarantee") != "published":
        shapes = [nothing.shape_of(s) for s in wanted.sources]
        nothing.regime(shapes, wanted.epsilons)
        nothing.unworkable(wanted.algorithms, shapes, wanted.epsilons, dict(wanted.params))
    if wanted.own:
        st.warning(own_warning(wanted))
    else:
        # A suggestion that follows the settings until a person types a name.
        bound(
            st.text_input,
            "Name of the study",
            d,
            "name",
            key="sweep-name",
            placeholder=study_jobs.new_name(wanted),
        )
    busy = current().running
    st.button(
        "Start",
        type="primary",
        key="sweep-start",
        width="stretch",
        disabled=busy,
        on_click=start,
        args=(wanted,),
    )


def own_warning(wanted: Wanted) -> str:
    """What a study on a person's own data would spend."""
    runs = wanted.seeds * sum(ALGORITHMS[k].private for k in wanted.algorithms)
    if any(not ALGORITHMS[k].private for k in wanted.algorithms):
        return "Your own data: an algorithm without privacy is chosen, so no finite ε would hold."
    if dict(wanted.params).get("guarantee") == "published":
        return (
            f"Your own data: every one of {runs * len(wanted.epsilons):,} runs would spend ε, "
            "more than what is asked for (see Defended total)."
        )
    data = own_data()
    if data is not None and not data.declared:
        return (
            "Your own data: their schema is not declared, so nothing could be defended. State it "
            "on Data first."
        )
    total = runs * sum(wanted.epsilons)
    return f"Your own data: every run would spend its ε, together ε = {text.number(total)}."


def start(wanted: Wanted) -> None:
    """Start the study the form asks for."""
    name = draft()["name"].strip() or study_jobs.new_name(wanted)
    try:
        kept = not wanted.own and study_jobs.folder() is not None
        path = study_jobs.path_of(name) if kept else None
    except InputError as error:
        refuse("sweep", str(error))
        return
    resume(StudyJob("Your own data" if wanted.own else name, wanted, path))


def resume(job: StudyJob) -> None:
    """Run what is missing of a study; what is wrong with it is said on the page."""
    try:
        study_jobs.launch(job)
    except (InputError, OSError) as error:
        refuse("sweep", str(error))


def saved_studies() -> None:
    """Open a study again."""
    names = study_jobs.saved()
    with st.expander(f"Saved studies ({len(names)})", key="sweep-saved"):
        if not names:
            place = study_jobs.folder()
            kept = "A started study is kept in the folder studies."
            st.caption(f"None yet. {kept if place is not None else study_jobs.KEPT_NOWHERE}")
        else:
            chosen = st.selectbox("Study", names, key="sweep-chosen")
            arguments: Any = {"args": (chosen,), "width": "stretch"}
            left, right = st.columns(2, gap="small")
            left.button("Open study", key="sweep-open", on_click=open_saved, **arguments)
            right.button(
                "Add to shown", key="sweep-add", on_click=add_saved, help=ADDED, **arguments
            )
        file_view()
