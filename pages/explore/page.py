"""Take hold of it: one graph, one dial, and what every draw of the noise makes of it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import streamlit as st

from engine.studies.scene import ALGORITHMS, kept_scenes
from pages.draw.scene import given, show_scene, words
from pages.explore import state

FIRST = "asia"
PATIENCE = 0.7  # seconds before a scene is shown as far as it is
LOOK = 3.0  # seconds between two looks at a scene that is still being drawn


def asked() -> dict[str, Any]:
    """The frame that the address asks for; what does not fit is left out."""
    query = st.query_params
    method, epsilon, draw = query.get("algorithm"), query.get("epsilon", ""), query.get("draw", "")
    return {
        "method": method if method in ("pc", *ALGORITHMS) else None,
        "epsilon": _positive(epsilon) or 1.0,
        "draw": int(draw) if draw.isascii() and draw.isdigit() and len(draw) < 5 else 0,
        "ghost": query.get("ghost") == "true",
    }


def _positive(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0 < value < math.inf else None


def rested(frame: Mapping[str, Any]) -> None:
    """Write the frame at rest into the address."""
    st.query_params.update(
        {
            "algorithm": str(frame["method"]),
            "epsilon": str(frame["epsilon"]),
            "draw": str(frame["draw"]),
            "ghost": str(frame["ghost"]).lower(),
        }
    )


def yours(frame: Mapping[str, Any]) -> None:
    """Remember that this frame is to be run on the page Run."""
    st.session_state["explore-yours"] = dict(frame)


def make_it_yours(name: str) -> None:
    """Go to Run with the settings of the frame, if that was asked for."""
    frame = st.session_state.pop("explore-yours", None)
    if frame is None:
        return
    query = {"data": name, "algorithm": frame["method"], "seed": str(frame["draw"])}
    if frame["method"] != "pc":
        query |= {"epsilon": str(frame["epsilon"]), "guarantee": "strict"}
    else:
        query |= {"statistic": "g2"}
    st.switch_page("pages/run/page.py", query_params=query)


def chosen() -> str:
    """The dataset whose scene is shown: the one in the address, or another that was clicked."""
    names = state.names()
    if "explore-data" not in st.session_state and st.query_params.get("data") in names:
        st.session_state["explore-data"] = st.query_params["data"]
    found = st.segmented_control(
        "Dataset",
        names,
        format_func=lambda name: words()[name]["title"],
        key="explore-data",
        label_visibility="collapsed",
    )
    name = str(found or FIRST)
    if name != st.query_params.get("data", FIRST):
        st.query_params["data"] = name
    return name


def main() -> None:
    """The page, top to bottom."""
    st.html('<h1 class="unseen">Scene</h1>')
    name = chosen()
    make_it_yours(name)
    if name in kept_scenes():
        show_scene(state.kept(name), asked(), rested, yours)
    else:
        growing(name)


def growing(name: str) -> None:
    """A scene that is drawn while one looks: the dial works with what there is."""
    job = state.job_of(name)
    job.wait(PATIENCE)

    going = job.running

    @st.fragment(run_every=LOOK if going else None)
    def look() -> None:
        if job.problem:
            st.error(job.problem)
        elif job.running:
            st.caption(f"Draws are being made: {job.done:,} so far. The dial answers with those.")
        elif going:
            st.rerun()
        show_scene(given(job.scene.as_dict()), asked(), rested, yours)

    look()


main()
