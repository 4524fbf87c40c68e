"""A guided tour: one idea a screen, each with its own address."""

from __future__ import annotations

import streamlit as st

from pages.learn import class_mode
from pages.learn import form as form
from pages.learn.search import played_run, search_view
from pages.learn.tour import follow, link, tour
from pages.learn.view import BY_KEY, STEPS, WAY, show_step
from pages.shell import address, present
from pages.shell.data import bundled
from pages.shell.strip import show_strip


def main() -> None:
    """The page, top to bottom."""
    if code := st.query_params.get(class_mode.NAME):
        class_mode.ballot(code)
        return
    follow()
    asked = st.query_params.get("step", STEPS[0].key)
    step = BY_KEY.get(asked, STEPS[0])
    wanted = link(step.key)
    if present.presenting():
        wanted[present.NAME] = "1"
    address.write("learn", wanted)
    now, other = tour(), played_run() if step.view is search_view else None

    def strip() -> None:
        mine = (bundled(now.network, step.rows(now), 0),)
        show_strip("Learn", *(mine if other is None else (other.data, other.result)))

    present.heading(strip, key="learn", more=lambda: form.settings(of_screen=other is None))
    form.ways({s.key: s.short for s in WAY}, step.under or step.key)
    show_step(step, now)


main()
