"""The steps of a user's own table: the current one, the open ones, and a link to the next.

They are shown above My data, Choose ε and Report, and each has an address.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

from engine import Dataset, InputError
from engine.params import Parameters, param
from pages import mode
from pages.shell import state
from pages.shell.settings import OWN_DATA, OWN_FILE, drafted_source
from pages.shell.state import Place
from pages.shell.task import find

if TYPE_CHECKING:
    from engine.release.file import Release  # only My data waits for it

NAME = "step"  # in an address
RELEASE = "release"  # the task that makes one


@dataclass(frozen=True)
class Stage:
    """One step: its title, its page's folder, its word in the address, and its task."""

    title: str
    page: str
    word: str
    todo: str


STAGES = (
    Stage("Table", "table", "table", "Upload a table"),
    Stage("Columns", "table", "columns", "Declare its columns"),
    Stage("Background knowledge", "table", "known", "Check the background knowledge"),
    Stage("Plan", "study", "plan", "Forecast the result"),
    Stage("Budget", "table", "budget", "Declare a budget"),
    Stage("Release", "table", "release", "Release the graph, once"),
    Stage("Share", "table", "share", "Share the release"),
)
_SHOWN: Place[str] = Place("journey_shown", str)  # the step that the browser was sent
# The file for which each step was done; another file starts again.
_DONE: Place[dict[str, str]] = Place("journey_done", dict)
_RELEASED: Place[tuple[Release, Dataset] | None] = Place("released")


@dataclass(frozen=True, kw_only=True)
class Guess(Parameters):
    """The edges that Plan and Release expect in a table before its search."""

    links: int = param(0, "Links expected (0: unknown)", low=0, high=5_000)
    strength: float = param(
        1.0,
        "Strength of the links",
        low=0.2,
        high=2.0,
        step=0.1,
        help="1 is the strength in the bundled networks.",
    )


def mark_done(word: str) -> None:
    """Mark a step as done for the current file."""
    if (file := OWN_FILE.get()) is not None:
        _DONE.get()[word] = file.identity


def is_done(word: str) -> bool:
    """Return whether a step is done, either marked or implied by the table."""
    file, data = OWN_FILE.get(), OWN_DATA.get()
    if word == "table":
        return file is not None and (data is not None or file.schema is not None)
    if word == "columns":
        return data is not None and data.declared
    if word == "budget":
        with suppress(InputError):
            return bool(mode.budgets().all())
        return False
    return file is not None and _DONE.get().get(word) == file.identity


def released() -> tuple[Release, Dataset] | None:
    """Return the last release of this session, and its data."""
    done = find(RELEASE)
    if done is not None and done.result is not None:
        _RELEASED.put((done.result, done.args[0]))
    return _RELEASED.get()


def keep_stage(here: Stage) -> None:
    """Write the step into the address; a move to another one adds an entry to the history.

    A link to the open page keeps its address.
    """
    if not state.visit().opened and _SHOWN.get() != here.word:
        st.query_params[NAME] = here.word
    _SHOWN.put(here.word)
    state.visit().words[NAME] = here.word


def stage_at(page: str) -> Stage:
    """Return the step in the address; if there is none, the first open step of the page."""
    mine = [stage for stage in STAGES if stage.page == page]
    named = st.query_params.get(NAME) or ("" if state.visit().opened else _SHOWN.get())
    for stage in mine:
        if stage.word == named:
            return stage
    return next((stage for stage in mine if not is_done(stage.word)), (mine or STAGES)[-1])


def stages_bar(here: Stage) -> None:
    """Show the steps as links, done ones ticked; nothing for a public dataset."""
    if not drafted_source().own:
        return
    with st.container(key="journey", horizontal=True, gap="small"):
        for stage in STAGES:
            mark = "check_circle" if is_done(stage.word) else "radio_button_unchecked"
            if stage is here:
                mark = "arrow_right_alt"
            _link(stage, stage.title, mark, "here" if stage is here else stage.word)


def next_link(here: Stage) -> None:
    """Show a link to the first open step after this one."""
    later = STAGES[STAGES.index(here) + 1 :]
    following = next((stage for stage in later if not is_done(stage.word)), None)
    if drafted_source().own and following and (following.word != "share" or is_done("release")):
        _link(following, f"Next: {following.title}. {following.todo}", "arrow_forward", "next")


def _link(stage: Stage, label: str, mark: str, key: str) -> None:
    with st.container(key=f"journey-{key}"):
        query = {NAME: stage.word}
        icon = f":material/{mark}:"
        st.page_link(f"pages/{stage.page}/page.py", label=label, icon=icon, query_params=query)
