"""The way of a person's own table: where one is on it, what is open, and a link to what comes next.

Its steps stand over the pages Data, Which ε?, Release and Report, and each has an address.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from dataclasses import dataclass
from typing import Any

import streamlit as st

from engine import InputError
from engine.studies.plan import DENSITY
from pages import mode
from pages.shell.data import own_data, own_file
from pages.shell.drafts import drafted_source
from pages.shell.session import Place

NAME = "step"  # in an address


@dataclass(frozen=True)
class Stage:
    """One step: its title, its page's folder, its word in the address, what is to be done there."""

    title: str
    page: str
    word: str
    todo: str

    @property
    def query(self) -> dict[str, str]:
        """What its address says."""
        return {NAME: self.word}

    @property
    def file(self) -> str:
        """Its page's script."""
        return f"pages/{self.page}/page.py"


STAGES = (
    Stage("Table", "table", "table", "Upload a table"),
    Stage("Columns", "table", "columns", "State what its columns can hold"),
    Stage("What is known", "table", "known", "Look at what counts as known"),
    Stage("Plan", "study", "plan", "See what a budget will buy"),
    Stage("Budget", "table", "budget", "Declare a budget"),
    Stage("Release", "table", "release", "Release the graph, once"),
    Stage("Share", "table", "share", "Hand it out"),
)
_SHOWN: Place[str] = Place("journey_shown", str)  # the step that the browser was sent
# Plan's form: what the tour carries there, and the guess of how many links there are for each
# column, which is that of the forecast on Release too.
PLAN: Place[MutableMapping[str, Any]] = Place("plan_draft", lambda: {"density": DENSITY})
_BY_WORD = {stage.word: stage for stage in STAGES}
# Which file each step was done for: another file starts again.
_DONE: Place[dict[str, str]] = Place("journey_done", dict)


def done(word: str) -> None:
    """A step is done for the file in force."""
    _DONE.get()[word] = _file()


def _file() -> str:
    file = own_file()
    return "" if file is None else file.identity


def is_done(word: str) -> bool:
    """Whether a step is done: some follow from the table itself, the others were said to be."""
    file, data = own_file(), own_data()
    if word == "table":
        return file is not None and (data is not None or file.schema is not None)
    if word == "columns":
        return data is not None and data.declared
    if word == "budget":
        return _budgets()
    return file is not None and _DONE.get().get(word) == file.identity


def keep(here: Stage) -> None:
    """Tell the browser which step this is: a link to the page that is open leaves its address."""
    if NAME not in st.query_params or _SHOWN.get() != here.word:
        _SHOWN.put(here.word)
        st.query_params[NAME] = here.word


def _budgets() -> bool:
    """Whether any budget was declared."""
    try:
        return bool(mode.budgets().all())
    except InputError:
        return False


def at(page: str) -> Stage:
    """The step that the address names; of a page that is opened without one, its first open one."""
    named = _BY_WORD.get(st.query_params.get(NAME, ""))
    mine = [stage for stage in STAGES if stage.page == page]
    if named is not None and named in mine:
        return named
    return (
        next((stage for stage in mine if not is_done(stage.word)), mine[-1]) if mine else STAGES[-1]
    )


def after(here: Stage) -> Stage | None:
    """The first open step behind this one; None where there is none."""
    behind = STAGES[STAGES.index(here) + 1 :]
    return next((stage for stage in behind if not is_done(stage.word)), None)


def bar(here: Stage) -> None:
    """The steps as links, done ones ticked; nothing where a public dataset is looked at."""
    if not drafted_source().own:
        return
    with st.container(key="journey", horizontal=True, gap="small"):
        for stage in STAGES:
            mark = "check_circle" if is_done(stage.word) else "radio_button_unchecked"
            if stage is here:
                mark = "arrow_right_alt"
            with st.container(key="journey-here" if stage is here else f"journey-{stage.word}"):
                st.page_link(
                    stage.file,
                    label=stage.title,
                    icon=f":material/{mark}:",
                    query_params=stage.query,
                )


def onward(here: Stage) -> None:
    """A link to the next open step, below what this one is about."""
    following = after(here)
    if not drafted_source().own or following is None:
        return
    with st.container(key="journey-next"):
        st.page_link(
            following.file,
            label=f"Next: {following.title}. {following.todo}",
            icon=":material/arrow_forward:",
            query_params=following.query,
        )
