"""Four steps of the tour: arrows to reverse, a noisy test, one person, one record to move."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import streamlit as st

from engine.story.content import arrows_content, person_content
from engine.teaching.lessons import noisy_test, query
from engine.teaching.neighbours import counterexample
from pages.draw.scene import mount
from pages.learn.tour import Tour, rows_of
from pages.shell.settings import bundled
from pages.shell.words import number, plain

EACH, START = 0.005, 1.0  # ε of the one noisy test, and of the output about one person


def truth_view(now: Tour) -> None:
    """Draw the true graph, whose arrows can be reversed."""
    mount("arrows", turned(now.data), "learn-arrows")


@st.cache_data(max_entries=8, show_spinner=False)
def turned(network: str) -> dict[str, Any]:
    """Return every choice of arrows, how many answers it changes, and a few of them."""
    return arrows_content(Tour(data=network).dataset)


def pair_of(now: Tour, title: str, start: str, key: str) -> tuple[str, str]:
    """Draw the choice of two columns by their plain names, and return them; ``start`` is the
    default."""
    pairs = [f"{a} – {b}" for a, b in combinations(now.dataset.names, 2)]
    chosen = st.selectbox(
        title,
        pairs,
        index=pairs.index(start) if start in pairs else 0,
        key=key,
        format_func=lambda pair: " – ".join(now.titles[name] for name in pair.split(" – ")),
    )
    x, y = str(chosen).split(" – ")
    return x, y


def noise_view(now: Tour) -> None:
    """Draw one test's statistic and its noise; both can be dragged."""
    left, right = st.columns([2, 4], gap="large")
    with left:
        x, y = pair_of(now, "Which pair", "tub – dysp", "learn-pair")
        test = noisy_test(now.dataset, query(now.dataset, x, y), EACH)
        st.markdown(
            f"The link between **{plain(now.titles[x])}** and **{plain(now.titles[y])}** has "
            f"strength **{number(test.exact)}** (the test statistic, Kendall's). A link below the "
            f"threshold T = {number(test.level)} is removed. One person can change the strength "
            f"by at "
            f"most {number(test.sensitivity)} (the sensitivity). The scale of the noise is this "
            f"number divided by ε. Drag the strength or ε. How many dots fall on the other side?"
        )
    with right:
        names = ("level", "sensitivity", "epsilon")
        given = {"score": test.exact, **{name: getattr(test, name) for name in names}}
        mount("noise", given, key="learn-noise")


def person_view(now: Tour) -> None:
    """Draw the people, and the pair of columns under test."""
    with st.popover("The pair under test", icon=":material/tune:"):
        x, y = pair_of(now, "The test with the output", "tub – either", "learn-game-pair")
    mount("person", crowd(now.data, x, y), key="learn-person")


@st.cache_data(max_entries=64, show_spinner=False)
def crowd(network: str, x: str, y: str) -> dict[str, Any]:
    """Return the people to show, their table, and the statistic after every replacement."""
    return person_content(bundled(network, rows_of(network), 0), x, y, START)


def bound_view(now: Tour) -> None:
    """Draw one record that can move, and the published sensitivity that it breaks."""
    left, right = st.columns([2, 5], gap="large")
    with left:
        small = int(st.slider("Rows in the small stratum", 10, 200, 40, 10, key="learn-small"))
        large = int(
            st.select_slider(
                "Rows in the large stratum",
                [1_000, 4_960, 9_960, 49_960, 99_960],
                value=99_960,
                key="learn-large",
                format_func=lambda n: f"{n:,}",
            )
        )
        found = counterexample(small, large)
        claimed = max(found.claims.values())
        change = abs(found.p[0] - found.p[1])
        st.markdown(
            "At first one column is constant in the large stratum, so the published test skips "
            "those rows. **Drag the record** to x = 1 there, and they all count. This moves p by "
            f"**{number(change)}**, **{number(change / claimed)} times** the change that the "
            f"noise covers. The **strict** form always counts every stratum, and its proven bound "
            f"is "
            f"{number(found.bound)}."
        )
        st.caption(" · ".join(f"{name}: {number(v)}" for name, v in found.claims.items()))
    moves = {
        "rest": found.rest.tolist(),
        "places": [vars(place) for place in found.places],
        "claim": claimed,
        "bound": found.bound,
    }
    with right:
        mount("record", moves, key="learn-record")
