"""The tour's step on the budget: one total as 100 coins, and three ways to spend it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from engine.story.content import money_content
from engine.studies.scenes import ALGORITHMS, kept_scene
from pages.draw.links import found_links
from pages.draw.scene import given, mount
from pages.learn.search import gallery, perfect
from pages.learn.tour import Tour, draft

WAITING = "These are the links that perfect tests find. The private runs are being made …"
ONCE = "marginal_pc"  # spends all coins before its first test


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
    mount("money", {**content, "epsilon": now.epsilon}, "learn-money", frame=_rested)


def _rested(frame: Mapping[str, Any]) -> None:
    draft()["epsilon"] = float(frame["epsilon"])


@st.cache_data(max_entries=8, show_spinner=False)
def drawn(network: str, draw: int) -> dict[str, Any]:
    """Return the network's scene, and the payments of one draw at every ε."""
    scene = kept_scene(network)
    return money_content(given(scene), ALGORITHMS, draw, once=ONCE)
