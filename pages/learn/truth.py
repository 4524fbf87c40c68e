"""The tour's first step: a graph whose arrows can be turned round."""

from __future__ import annotations

from typing import Any

import streamlit as st

from engine.data.networks import load_network
from engine.teaching.turning import questions, turning
from pages.draw.scene import digested, graph_content, show_arrows
from pages.learn.tour import Tour

EXAMPLES = 4


def truth_view(now: Tour) -> None:
    """Which questions to the data would change?"""
    show_arrows(turned(now.data), "learn-arrows")


@st.cache_data(max_entries=8, show_spinner=False)
def turned(network: str) -> dict[str, Any]:
    """What the browser needs: every choice of arrows, how many answers it changes, and a few."""
    graph = load_network(network)
    found = turning(graph.dag(), graph.names)
    every = list(questions(found.d))
    return digested(
        {
            **graph_content(Tour(data=network).dataset),
            "arrows": found.arrows,
            "kinds": found.kinds,
            "changed": [len(places) for places in found.changed],
            "examples": [
                [(*every[k], found.independent[k]) for k in places[:EXAMPLES]]
                for places in found.changed
            ],
            "questions": len(every),
        }
    )
