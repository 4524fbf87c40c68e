"""Spend a budget once, on your own data, and hand out a file; or check one that you were given."""

from __future__ import annotations

import streamlit as st

from engine import Dataset
from pages import mode
from pages.release import form as release
from pages.release import handed
from pages.release import state as releases
from pages.release import view as views
from pages.shell import dataset, journey, runs
from pages.shell.drafts import drafted_source
from pages.shell.strip import drafted_data, show_strip

ABOUT = (
    "A release is charged to a budget of yours before any noise is drawn, takes its noise from the "
    "operating system with no seed, and leaves one file: the graph, the noisy tables it follows "
    "from, and what it guarantees. Whoever has the file can check without your data whether it is "
    "consistent, and whether it is yours if you sign it."
)


def main() -> None:
    """The page, top to bottom."""
    runs.shown()
    with st.sidebar:
        dataset.picker(key="release")
    if releases.made():
        journey.done("release")
    here = journey.at("release")
    if drafted_source().own:
        journey.keep(here)
        journey.bar(here)
        steps(here)
        journey.onward(here)
    else:
        dataset.door(ABOUT)
    handed.files()


def steps(here: journey.Stage) -> None:
    """What is to be done of a person's own table: pay, release, hand out."""
    data = drafted_data("Release")
    if data is not None:
        show_strip("Release", data)
    st.caption(ABOUT)
    if mode.switched_off() or data is None:
        return
    if here.word == "share":
        views.share_step()
    else:
        views.budgets()
        release_step(data)


def release_step(data: Dataset) -> None:
    """The form that spends, or how far it is; and what came of it."""
    if releases.going():
        views.live()
        return
    release.spend(data)
    views.ended()


main()
