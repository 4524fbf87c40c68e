"""Take hold of it: one graph, one dial, and what every draw of the noise makes of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from engine.story.modules import plainly
from engine.studies.scenes import kept_scenes
from pages.draw.scene import given, mount
from pages.scene import state
from pages.shell.form import bound
from pages.shell.state import Place
from pages.shell.task import look_again

PATIENCE = 0.7  # seconds before a scene is shown as far as it is
LOOK = 3.0  # seconds between two looks at a scene that is still being drawn
_YOURS: Place[bool] = Place("scene_yours", bool)
_RUNS = {"n", "sample", "seed", "guarantee"}  # words of a link to a run, which had no page's name


def rested(frame: Mapping[str, Any]) -> None:
    """Keep the frame at rest."""
    state.draft().update(frame)


def yours(frame: Mapping[str, Any]) -> None:
    """Keep the frame that is to be run on the page Run."""
    rested(frame)
    _YOURS.put(True)


def make_it_yours(frame: Mapping[str, Any]) -> None:
    """Go to Run with the settings of the frame, if that was asked for."""
    if not _YOURS.take():
        return
    query = {"data": frame["data"], "algorithm": frame["algorithm"], "seed": str(frame["draw"])}
    if frame["algorithm"] == "pc":
        query |= {"statistic": "g2", "seed": "0"}
    else:
        query |= {"epsilon": str(frame["epsilon"]), "guarantee": "strict"}
    st.switch_page("pages/run/page.py", query_params=query)


def main() -> None:
    """The page, top to bottom."""
    st.html('<h1 class="unseen">Scene</h1>')
    if _RUNS & set(st.query_params):
        st.switch_page("pages/run/page.py", query_params=st.query_params.to_dict())
    frame = state.draft()
    dict(frame)  # all of it is in the address
    make_it_yours(frame)
    bound(
        st.selectbox,
        "Dataset",
        frame,
        "data",
        key="scene-data",
        options=state.names(),
        format_func=lambda name: plainly(name)["title"],
        label_visibility="collapsed",
        width=260,
    )
    name = str(frame["data"])
    if name in kept_scenes():
        _show(state.whole(name), frame)
    else:
        growing(name, frame)


def _show(content: Mapping[str, Any], frame: Mapping[str, Any]) -> None:
    mount("scene", {**content, "start": dict(frame)}, "scene", frame=rested, yours=yours)


def growing(name: str, frame: Mapping[str, Any]) -> None:
    """A scene that is drawn while one looks: the dial works with what there is."""
    task = state.growing(name)
    task.wait(PATIENCE)

    def draw() -> None:
        scene, made = state.so_far(state.growing(name))
        if task.problem:
            st.error(task.problem)
        elif not task.done:
            st.caption(f"Draws are being made: {made:,} so far. The dial answers with those.")
        if made >= len(scene.epsilons) * len(scene.states):  # nothing is drawn before its draw
            _show(given(scene.as_dict()), frame)

    look_again(lambda: [state.growing(name)], draw, LOOK)


main()
