"""The tour's last step: people and ε, one question's interval, and a link to a forecast."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from engine.effects.width import widths
from engine.graphs.metrics import Counts
from engine.params import Parameters, param
from engine.percent import span
from engine.question import Question
from engine.registry import algorithm
from engine.request import OWN
from engine.studies.repeat import usual
from engine.teaching.classroom import ONCE
from pages.draw import charts, ink
from pages.draw.charts import Group, grouped
from pages.draw.links import titles_of
from pages.learn.tour import Tour, run_of
from pages.shell import presenting, state
from pages.shell.form import parameters
from pages.shell.words import number, plain

PEOPLE = (300, 1_000, 3_000, 10_000, 30_000, 100_000)
EPSILONS = (0.1, 0.3, 1.0, 3.0, 10.0)
DRAWS, DELTA = 10, 1e-6
START = 100_000  # the number of people on every other step


@dataclass(frozen=True, kw_only=True)
class Fields(Parameters):
    """The two numbers that a reader chooses."""

    people: int = param(START, "How many people", among=PEOPLE)
    total: float = param(1.0, "ε of the whole run (strict)", among=EPSILONS)


def people_asked() -> int:
    """Return the number of people in the form; it is the same for every network."""
    return int(state.Values(Fields, "now.")["people"])


def now_view(now: Tour) -> None:
    """Draw the fields for people and ε, the runs' outcome, and a link to the forecast."""
    d = state.Values(Fields, "now.")
    left, right = st.columns([2, 3], gap="large")
    with left:
        parameters(Fields.specs(), d, key="learn")
        people, epsilon = int(d["people"]), float(d["total"])
        some = _outcomes(now.data, people, epsilon)
        found = usual([o.found for o in some])
        made = usual([o.false_positives for o in some])
        st.markdown(
            f"With **{people:,}** people and ε = **{number(epsilon)}**, {algorithm(ONCE).title} "
            f"usually finds **{span(found.low, found.high)}** of {some[0].true} true links, with "
            f"**{span(made.low, made.high)}** false positives, over {DRAWS} draws of the noise."
        )
        _price_of_a_question(now, people, epsilon)
        query, icon = {"data": OWN, "plan.rows": f"{people}"}, ":material/arrow_forward:"
        title, page = "Forecast with my own columns", "pages/study/page.py"
        st.page_link(page, label=title, icon=icon, query_params=query)
    with right:
        every = [_outcomes(now.data, n, epsilon) for n in PEOPLE]
        right_ones = [sum(o.found for o in some) / DRAWS for some in every]
        wrong_ones = [sum(o.false_positives for o in some) / DRAWS for some in every]
        bars = [
            Group("Found", right_ones, ink(0)),
            Group("False positives", wrong_ones, ink(1), "/"),
        ]
        titles = {"x_title": "People", "y_title": "Links, on average"}
        tall = 450 if presenting() else 360
        figure = grouped([f"{n:,}" for n in PEOPLE], bars, height=tall, **titles)
        alt = "Links found and false positives by the number of people"
        charts.figure(figure, key="learn-now", alt=alt)


def _price_of_a_question(now: Tour, people: int, epsilon: float) -> None:
    """Choose a cause and an outcome; show how narrow its interval will be at this ε."""
    data, titles = now.dataset, titles_of(now.dataset)
    assert data.truth is not None
    pairs = sorted(data.truth.edges)
    chosen = st.selectbox(
        "How precise would one answer be?", pairs, key=f"learn-question-{now.data}",
        format_func=lambda pair: f"How much does {titles[pair[0]]} change {titles[pair[1]]}?",
    )  # fmt: skip
    asked = Question(cause=titles[chosen[0]], outcome=titles[chosen[1]], adjust=())
    names, levels = list(titles.values()), data.levels
    (found,) = widths(asked, names, levels, rows=people, epsilons=[epsilon], delta=DELTA)
    st.markdown(plain(found.sentences[0]))


def _outcomes(network: str, people: int, epsilon: float) -> list[Counts]:
    runs = (run_of((network, people), ONCE, s, epsilon=epsilon) for s in range(DRAWS))
    return [r.counts for r in runs if r.counts]
