"""Explore: one graph, one slider for ε, and the result of every noise draw."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from engine.data.networks import plainly
from engine.request import Request, Source
from engine.studies.scenes import kept_scene
from pages.draw.scene import mount
from pages.scene import state
from pages.shell import heading
from pages.shell.form import bound, keeping
from pages.shell.state import Place

_YOURS: Place[bool] = Place("scene_yours", bool)
_SEEN: Place[bool] = Place("scene_seen", bool)
# Parameters of an old link to a run, which named no page.
_RUNS = {"n", "sample", "seed", "guarantee"}


def yours(frame: Mapping[str, Any]) -> None:
    """Keep the frame that is to be run on the page Run."""
    keeping(state.draft())(frame)
    _YOURS.put(True)


def make_it_yours(frame: Mapping[str, Any]) -> None:
    """Go to Run with the settings of the frame, if that was asked for."""
    if not _YOURS.take():
        return
    name, chosen, draw = frame["data"], frame["algorithm"], frame["draw"]
    values = {"epsilon": frame["epsilon"], "guarantee": "strict"}
    if chosen == "pc":
        values, draw = {"statistic": "g2"}, 0
    request = Request(Source(name, kept_scene(name)["rows"]), chosen, values, draw)
    st.switch_page("pages/run/page.py", query_params=request.to_words())


def main() -> None:
    """Draw the page from top to bottom."""
    # Not after Back: going to Run leaves such an address in the history.
    if _RUNS & set(st.query_params) and not _SEEN.get():
        st.switch_page("pages/run/page.py", query_params=st.query_params.to_dict())
    _SEEN.put(True)
    frame = state.draft()
    dict(frame)  # all of it is in the address
    make_it_yours(frame)

    def strip() -> None:
        st.html('<h1 class="unseen">Explore</h1>')
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

    heading(strip, key="scene")
    content = state.whole(str(frame["data"]))
    mount("scene", {**content, "start": dict(frame)}, "scene", frame=keeping(frame), yours=yours)


main()
