"""The tour's step on money: one total as a hundred coins, and three ways to spend it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from engine.data.networks import load_dataset
from engine.studies.scenes import ALGORITHMS, kept_scene
from engine.teaching.money import Purse, purses
from pages.draw.links import found_links
from pages.draw.scene import digested, given, mount
from pages.learn.search import gallery, perfect
from pages.learn.tour import Tour, draft

WAITING = "Before any coin is spent: what perfect tests would find. Runs are made …"
ONCE = "marginal_pc"  # what spends once
WAYS = {
    "priv_pc": "for each “perhaps”",
    "curate_pc": "more at the beginning",
    ONCE: "all at once",
}


def money_view(now: Tour) -> None:
    """Three purses, one clock, one dial; the network, until its runs are made."""
    scene = kept_scene(now.data)
    draw = now.seed if now.seed < scene["draws"] else 0
    made: set[tuple[str, int]] = st.session_state.setdefault("learn_purses", set())
    if (now.data, draw) in made:
        content = drawn(now.data, draw)
    else:
        place = st.empty()
        with place.container():
            gallery(now, [(WAITING, found_links(perfect(now)))], across=1, alt=WAITING)
        content = drawn(now.data, draw)
        place.empty()
        made.add((now.data, draw))
    mount("money", {**content, "epsilon": now.epsilon}, "learn-money", frame=_rested)


def money_rows(now: Tour) -> int:
    """Rows that the purses were spent on: those of the Scene's draws."""
    return int(kept_scene(now.data)["rows"])


def _rested(frame: Mapping[str, Any]) -> None:
    draft()["epsilon"] = float(frame["epsilon"])


@st.cache_data(max_entries=8, show_spinner=False)
def drawn(network: str, draw: int) -> dict[str, Any]:
    """What the browser needs: the network's scene, and the purse of one draw at every ε."""
    scene = kept_scene(network)
    data = load_dataset(network, n=scene["rows"])
    content = {
        **{name: given(scene)[name] for name in ("scene", "titles", "layouts")},
        "purses": {
            key: [_packed(p) for p in purses(data, key, scene["epsilons"], draw)]
            for key in ALGORITHMS
        },
        "ways": WAYS,
        "once": ONCE,
        "draw": draw,
    }
    return digested(content)


def _packed(purse: Purse) -> dict[str, Any]:
    return {
        "pairs": purse.pairs,
        "decisions": purse.decisions,
        "coins": [round(c, 3) for c in purse.coins],
        "bought": [(label, round(c, 3)) for label, c in purse.bought],
        "ended": purse.ended,
    }
