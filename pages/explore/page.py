"""Take hold of it: one graph, one dial, and what every draw of the noise makes of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from engine.studies.scene import kept_scene, kept_scenes
from pages.draw.scene import given, show_scene, words


@st.cache_data(show_spinner=False)
def content(name: str) -> dict[str, Any]:
    """What the browser needs of a scene that comes with the project."""
    return given(kept_scene(name), {})


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


def main() -> None:
    """The page, top to bottom."""
    names = {name: words()[name]["title"] for name in kept_scenes()}
    chosen = st.segmented_control(
        "Dataset", list(names), format_func=names.__getitem__, default="asia",
        label_visibility="collapsed",
    )  # fmt: skip
    query = st.query_params
    start = {
        "method": query.get("algorithm"),
        "epsilon": float(query.get("epsilon", 1)),
        "draw": int(query.get("draw", 0)),
        "ghost": query.get("ghost") == "true",
    }
    show_scene(content(chosen or "asia"), start, rested, lambda frame: None)


main()
