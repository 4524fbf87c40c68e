"""A guided tour: one idea per screen, each with an address."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from pages.learn import now as study
from pages.learn import scenes, search, shuffle, sieve
from pages.learn.classroom import PHONE, ballot, door, led, wall
from pages.learn.steps import BY_KEY, OLD, STEPS
from pages.learn.tour import draft, onto, rows_of, settings, tour, ways
from pages.shell import heading, presenting, show_strip
from pages.shell.settings import bundled
from pages.shell.words import safe

STYLE = Path(__file__).with_name("style.css")
VIEWS = {
    "cause": scenes.truth_view,
    "search": search.search_view,
    "noise": scenes.noise_view,
    "draws": search.draws_view,
    "person": scenes.person_view,
    "sieve": sieve.sieve_view,
    "orders": scenes.orders_view,
    "bound": scenes.bound_view,
    "budget": scenes.money_view,
    "shuffle": shuffle.shuffle_view,
    "study": study.now_view,
}


def main() -> None:
    """Draw the page from top to bottom."""
    st.html(STYLE)
    if code := st.query_params.get(PHONE):
        ballot(code)
        return
    if led():
        wall()
        return
    draft()["step"] = OLD.get(draft()["step"], draft()["step"])
    now = tour()
    step, other = BY_KEY[now.step], search.played_run() if now.step == "search" else None

    def strip() -> None:
        rows = study.people_asked() if step.key == "study" else rows_of(now.data)
        mine = (bundled(now.data, rows, 0),)
        show_strip("Learn", *(mine if other is None else (other.data, other.result)))

    def more() -> None:
        settings(of_screen=other is None)
        door()

    heading(strip, key="learn", more=more)
    ways(step)
    st.html(
        f'<div class="lesson"><div><h2>{safe(step.title)}</h2><p>{safe(step.words)}</p></div>'
        f"<aside><b>Read more</b> {safe(step.source)}</aside></div>"
    )
    VIEWS[step.key](now)
    with st.container(horizontal=True, key="learn-asides"):
        for one in STEPS:
            if one.under == step.key and not presenting():
                onto(f"More: {one.short}", one.key, f"learn-aside-{one.key}", type="tertiary")


main()
