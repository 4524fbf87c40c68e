"""The tour's end: what if it were so many people, and the way to a plan of one's own."""

from __future__ import annotations

import streamlit as st

from engine.registry import algorithm
from engine.studies.repeat import Repetition, outcome_of, usual
from pages.draw import show
from pages.draw.bars import Group, grouped
from pages.learn.tour import Tour, run_of
from pages.shell.palette import ink
from pages.shell.settings import OWN
from pages.shell.words import number

PEOPLE = (300, 1_000, 3_000, 10_000, 30_000, 100_000)
EPSILONS = (0.1, 0.3, 1.0, 3.0, 10.0)
METHOD = "marginal_pc"
DRAWS = 10
START = 3_000  # people


def people_asked(now: Tour) -> int:
    """How many people the form names; the same on every network."""
    return int(st.session_state.get("learn-people", START))


def now_view(now: Tour) -> None:
    """Two numbers of one's own, what comes of them here, and a button to Plan."""
    left, right = st.columns([2, 3], gap="large")
    with left:
        people = int(
            st.select_slider(
                "How many people",
                PEOPLE,
                value=START,
                key="learn-people",
                format_func=lambda n: f"{n:,}",
            )
        )
        epsilon = float(
            st.select_slider(
                "ε of the whole run (strict)",
                EPSILONS,
                value=1.0,
                key="learn-now-epsilon",
                format_func=lambda e: f"{e:g}",
            )
        )
        _said(_outcomes(now.data, people, epsilon), people, epsilon)
        st.button(
            "Plan with my own columns",
            key="learn-plan",
            type="primary",
            icon=":material/arrow_forward:",
            on_click=_carry,
        )
        if st.session_state.pop("learn-to-plan", False):
            query = {"data": OWN, "plan.rows": str(people)}
            st.switch_page("pages/study/page.py", query_params=query)
    with right:
        _by_people(now.data, epsilon)


def _outcomes(network: str, people: int, epsilon: float) -> list[Repetition]:
    runs = (run_of(network, METHOD, s, (("epsilon", epsilon),), people) for s in range(DRAWS))
    return [outcome_of(r) for r in runs]


def _said(outcomes: list[Repetition], people: int, epsilon: float) -> None:
    found = usual([o.counts.found for o in outcomes])
    made = usual([o.counts.invented for o in outcomes])
    st.markdown(
        f"With **{people:,}** people and ε = **{number(epsilon)}**, {algorithm(METHOD).title} "
        f"usually finds **{_range(found.low, found.high)}** of {outcomes[0].counts.true} true "
        f"links and invents **{_range(made.low, made.high)}**, over {DRAWS} draws of the noise."
    )


def _by_people(network: str, epsilon: float) -> None:
    """The same ε for fewer and for more people."""
    every = [_outcomes(network, people, epsilon) for people in PEOPLE]
    found = [sum(o.counts.found for o in some) / DRAWS for some in every]
    made = [sum(o.counts.invented for o in some) / DRAWS for some in every]
    figure = grouped(
        [f"{n:,}" for n in PEOPLE],
        [Group("Found", found, ink(0)), Group("Invented", made, ink(1), "/")],
        x_title="People",
        y_title="Links, on average",
        height=360,
    )
    show.figure(figure, key="learn-now", alt="Links found and invented by the number of people")


def _carry() -> None:
    st.session_state["learn-to-plan"] = True


def _range(low: int, high: int) -> str:
    return f"{low}" if low == high else f"{low} to {high}"
