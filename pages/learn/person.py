"""The tour's step on a person: a crowd, one answer changed, and a bet on a noisy output."""

from __future__ import annotations

from typing import Any

import streamlit as st

from engine.story.content import person_content
from pages.draw.scene import mount
from pages.learn.first import pair_of
from pages.learn.tour import Tour, rows_of
from pages.shell.settings import bundled

START = 1.0


def person_view(now: Tour) -> None:
    """Draw the people, and the pair of columns under test."""
    with st.popover("The pair under test", icon=":material/tune:"):
        x, y = pair_of(now, "The test with the released score", "tub – either", "learn-game-pair")
    mount("person", crowd(now.data, x, y), key="learn-person")


@st.cache_data(max_entries=64, show_spinner=False)
def crowd(network: str, x: str, y: str) -> dict[str, Any]:
    """Return the people to show, their table, and the statistic after every replacement."""
    return person_content(bundled(network, rows_of(network), 0), x, y, START)
