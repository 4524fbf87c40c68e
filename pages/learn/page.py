"""A guided tour: one idea per screen, each with an address."""

from __future__ import annotations

import streamlit as st

from pages.learn.phone import ballot
from pages.learn.search import played_run, search_view
from pages.learn.steps import BY_KEY, WAY, show_step
from pages.learn.tour import OLD, draft, settings, tour, ways
from pages.learn.wall import PHONE, door, led, wall
from pages.shell import heading, show_strip
from pages.shell.settings import bundled


def main() -> None:
    """Draw the page from top to bottom."""
    if code := st.query_params.get(PHONE):
        ballot(code)
        return
    if led():
        wall()
        return
    if now_called := OLD.get(draft()["step"]):
        draft()["step"] = now_called
    step = BY_KEY[draft()["step"]]
    now, other = tour(), played_run() if step.view is search_view else None

    def strip() -> None:
        mine = (bundled(now.data, step.rows(now), 0),)
        show_strip("Learn", *(mine if other is None else (other.data, other.result)))

    def more() -> None:
        settings(of_screen=other is None)
        door()

    heading(strip, key="learn", more=more)
    ways({s.key: s.short for s in WAY}, step.under or step.key)
    show_step(step, now)


main()
