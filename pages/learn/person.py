"""The tour's step on a person: a crowd, one answer changed, and a bet on a noisy output."""

from __future__ import annotations

from typing import Any

import streamlit as st

from engine.story.content import person_content
from pages.draw.scene import mount
from pages.learn import class_mode
from pages.learn.first import pair_of
from pages.learn.tour import PEOPLE, Tour, neighbours_of
from pages.shell.settings import bundled

START = 1.0
EPSILONS = (0.1, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0)


def person_view(now: Tour) -> None:
    """The crowd, and below it the room of a class."""
    top, crowded, below = st.container(), st.container(), st.container(key="class-mode")
    with below, st.popover("The test, and a class", icon=":material/groups:"):
        x, y = pair_of(now, "The test with the released score", "tub – either", "learn-game-pair")
        epsilon = st.select_slider(
            "ε of each output that the class bets on",
            EPSILONS,
            value=START,
            key="learn-room-epsilon",
            format_func=lambda e: f"{e:g}",
        )
        class_mode.door(neighbours_of(now.data, x, y).at(epsilon))
    with top:
        class_mode.wall()
    with crowded:
        mount("person", crowd(now.data, x, y), key="learn-person")


@st.cache_data(max_entries=64, show_spinner=False)
def crowd(network: str, x: str, y: str) -> dict[str, Any]:
    """What the browser needs: everybody's answers, and the score after every replacement."""
    return person_content(bundled(network, PEOPLE, 0), x, y, START)
