"""Six steps of the tour, each with a scene that answers to the hand: arrows, a noisy test, one
person, one record, the coins of a budget, and CURATE's plan."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import streamlit as st

from engine import Dataset
from engine.params import ParameterError, Parameters, param
from engine.percent import percent
from engine.story.content import arrows_content, money_content, person_content
from engine.story.modules import digested
from engine.studies.margins import planned
from engine.studies.scenes import ALGORITHMS, kept_scene
from engine.teaching.classroom import ONCE
from engine.teaching.lessons import noisy_test, query, strengths
from engine.teaching.neighbours import counterexample
from pages.draw import charts
from pages.draw.charts import bars
from pages.draw.links import found_links, titles_of
from pages.draw.scene import given, mount
from pages.learn.search import gallery, perfect
from pages.learn.tour import Tour, draft, nearest, places
from pages.shell import state
from pages.shell.form import keeping
from pages.shell.state import spec_of
from pages.shell.words import number, plain

EACH, START = 0.005, 1.0  # ε of the one noisy test, and of the output about one person
LARGE = (1_000, 4_960, 9_960, 49_960, 99_960)  # rows in a large stratum
WAITING = "These are the links that perfect tests find. The private runs are being made …"


def truth_view(now: Tour) -> None:
    """Draw the true graph, whose arrows can be reversed."""
    mount("arrows", turned(now.data), "learn-arrows")


@st.cache_data(max_entries=8, show_spinner=False)
def turned(network: str) -> dict[str, Any]:
    """Return every choice of arrows, how many answers it changes, and a few of them."""
    return arrows_content(Tour(data=network).dataset)


def pair_of(now: Tour, title: str, start: tuple[str, str], key: str) -> tuple[str, str]:
    """Draw the choice of two columns by their plain names, and return them; ``start`` is the
    default."""
    pairs = list(combinations(now.dataset.names, 2))
    at, words = pairs.index(start) if start in pairs else 0, titles_of(now.dataset)
    chosen: tuple[str, str] = st.selectbox(
        title, pairs, at, key=key, format_func=lambda pair: " – ".join(words[c] for c in pair)
    )
    return chosen


def noise_view(now: Tour) -> None:
    """Draw one test's statistic and its noise; both can be dragged."""
    left, right = st.columns([2, 4], gap="large")
    with left:
        x, y = pair_of(now, "Which pair", ("tub", "dysp"), "learn-pair")
        titles = titles_of(now.dataset)
        test = noisy_test(now.dataset, query(now.dataset, x, y), EACH)
        st.markdown(
            f"The link between **{plain(titles[x])}** and **{plain(titles[y])}** has "
            f"strength **{number(test.exact)}** (the test statistic, Kendall's). A link below the "
            f"threshold T = {number(test.level)} is removed. One person can change the strength "
            f"by at most {number(test.sensitivity)} (the sensitivity). The scale of the noise is "
            "this number divided by ε. Drag the strength or ε. How many dots fall on the other "
            "side?"
        )
    with right:
        drawn = {"score": test.exact, "level": test.level}
        drawn |= {"sensitivity": test.sensitivity, "epsilon": test.epsilon}
        mount("noise", drawn, "learn-noise")


def person_view(now: Tour) -> None:
    """Draw the people, and the pair of columns under test."""
    with st.popover("The pair under test", icon=":material/tune:"):
        pair = pair_of(now, "The test with the output", ("tub", "either"), "learn-game-pair")
    mount("person", crowd(now.data, *pair), "learn-person")


@st.cache_data(max_entries=64, show_spinner=False)
def crowd(network: str, x: str, y: str) -> dict[str, Any]:
    """Return the people to show, their table, and the statistic after every replacement."""
    return person_content(Tour(data=network).dataset, x, y, START)


def bound_view(now: Tour) -> None:
    """Draw one record that can move, and the published sensitivity that it breaks."""
    left, right = st.columns([2, 5], gap="large")
    with left:
        small = st.slider("Rows in the small stratum", 10, 200, 40, 10, key="learn-small")
        large = st.select_slider(
            "Rows in the large stratum", LARGE, LARGE[-1], "{:,}".format, key="learn-large"
        )
        found = counterexample(int(small), int(large))
        claimed = max(found.claims.values())
        change = abs(found.p[0] - found.p[1])
        st.markdown(
            "At first one column is constant in the large stratum, so the published test skips "
            "those rows. **Drag the record** to x = 1 there, and they all count. This moves p by "
            f"**{number(change)}**, **{number(change / claimed)} times** the change that the "
            "noise covers. The **strict** form always counts every stratum, and its proven bound "
            f"is {number(found.bound)}."
        )
        st.caption(" · ".join(f"{name}: {number(v)}" for name, v in found.claims.items()))
    with right:
        spots = [vars(place) for place in found.places]
        moves = {"rest": found.rest.tolist(), "places": spots}
        mount("record", {**moves, "claim": claimed, "bound": found.bound}, "learn-record")


# Three ways to spend one total -----------------------------------------------------------


def money_view(now: Tour) -> None:
    """Draw three ways to spend one total, or the network until their runs end."""
    scene = kept_scene(now.data)
    draw = now.seed if now.seed < scene["draws"] else 0
    made: set[tuple[str, int]] = st.session_state.setdefault("learn_purses", set())
    place = st.empty()  # drawn always, because a component that changes its position starts again
    if (now.data, draw) not in made:
        with place.container():
            gallery(now, [(WAITING, found_links(perfect(now)))], across=1, alt=WAITING)
    content = drawn(now.data, draw)
    place.empty()
    made.add((now.data, draw))
    mount("money", {**content, "epsilon": now.epsilon}, "learn-money", frame=keeping(draft()))


@st.cache_data(max_entries=8, show_spinner=False)
def drawn(network: str, draw: int) -> dict[str, Any]:
    """Return the network's scene, and the payments of one draw at every ε."""
    return money_content(given(kept_scene(network)), ALGORITHMS, draw, once=ONCE)


# The orders, and CURATE's plan for them --------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Fields(Parameters):
    """CURATE's margins."""

    beta1: float = param(0.2, "Margin β₁", low=0.0, high=1.0, step=0.05)
    beta2: float = param(0.4, "Margin β₂", low=0.0, high=1.0, step=0.05)


def orders_view(now: Tour) -> None:
    """Draw the distance of tests from the threshold by order, and CURATE's budget allocation."""
    margins = state.Values(Fields, "plan.")
    left, right = st.columns([2, 3], gap="large")
    with left:
        _distances(now)
    with right:
        st.markdown("**CURATE's budget for each order: drag the margins**")
        content = plans(now.data, now.epsilon, margins["beta1"], margins["beta2"], now.dataset)
        if content is None:
            st.info("The total is too small for a budget allocation. Raise ε.")
        else:
            mount("plan", content, "learn-plan-scene", frame=keeping(margins))


def _distances(now: Tour) -> None:
    st.markdown("**How far real links lie above the threshold**")
    asked = perfect(now)
    lines = strengths(now.dataset, asked.steps, now.epsilon / max(1, asked.ci_tests))
    figure = bars(
        [s.order for s in lines],
        [s.margin for s in lines],
        x_title="Order: how many variables a test conditions on",
        y_title="Distance in sensitivities (median)",
        words=[number(s.margin) for s in lines],
        height=330,
    )
    charts.figure(figure, key="learn-margin", alt="Distance from the threshold by order")
    flips = ", ".join(f"{percent(s.flips)} at order {s.order}" for s in lines)
    st.caption(
        f"With ε = {number(now.epsilon)} (strict) shared equally among {asked.ci_tests} "
        f"tests, noise would remove a real link in {flips}. A link that order 0 wrongly keeps is "
        f"tested again at every later order, so an early mistake also costs budget."
    )


@st.cache_data(max_entries=32, show_spinner=False)
def plans(
    network: str, epsilon: float, beta1: float, beta2: float, _data: Dataset
) -> dict[str, Any] | None:
    """Return the first plan at every value of each margin; None if the total allows no plan."""
    betas = places(spec_of(Fields, "beta1"))

    def along(one: float, two: float) -> list[tuple[int, int, float, float]]:
        shares = planned(_data, guarantee="strict", epsilon=epsilon, beta1=one, beta2=two)
        return [share[:4] for share in shares]

    try:
        found = {
            "one": [along(beta, beta2) for beta in betas],
            "two": [along(beta1, beta) for beta in betas],
        }
    except ParameterError:
        return None
    if not all(found["one"] + found["two"]):
        return None
    at = {"one": nearest(betas, beta1), "two": nearest(betas, beta2)}
    return digested({"betas": betas, "plans": found, "at": at})
