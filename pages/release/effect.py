"""How much one column does to another, by a release that was made here or handed out."""

from __future__ import annotations

import streamlit as st

from engine.effects.effect import Effect
from engine.release.combine import question
from engine.release.file import Release, digest
from pages.draw.effect import Ask, effects


@st.cache_resource(max_entries=4, show_spinner="Reading the released tables …")
def _asked(_release: Release, seal: str) -> Ask:
    """A release's question; what it holds has been handed out, so sessions may share it."""
    return question(_release)


@st.fragment
def how_much(release: Release, key: str) -> None:
    """Two boxes and one sentence, once asked for; nothing where no link was found."""
    if not release.cpdag:
        return
    box = st.expander("How much? Effects", key=f"{key}-effects", on_change="rerun")
    if box.open:
        with box:
            arrows = [(a, b) for a, b in release.cpdag if (b, a) not in release.cpdag]
            ask = _asked(release, digest(release))
            first = (arrows or list(release.cpdag))[0]
            start: Effect = ask(*first)
            effects(release.names, start.levels, first, ask, key=f"{key}-effect")
            st.caption("From the file alone: nothing is charged, and no data are needed.")
