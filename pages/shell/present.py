"""Presenter mode: the page alone, without what is around it (style.css hides that)."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from engine.params import Spec
from pages.shell import state

_ON = (Spec(name=state.PRESENT, kind="bool", default=False, title="Presenter mode"),)


def presenting() -> bool:
    """Whether the address asks for presenter mode."""
    return bool(state.of(_ON)[state.PRESENT])


def heading(strip: Callable[[], None], *, key: str, more: Callable[[], None] | None = None) -> None:
    """The page's strip, and next to it the button that turns presenter mode on or off.

    ``more`` draws buttons before it.
    """
    on = presenting()
    head = st.container(key="head", horizontal=True, vertical_alignment="center", gap="medium")
    with head.container(key="around", width="content"):
        strip()
    with head.container(key="presented" if on else "aside", horizontal=True, width="content"):
        if more is not None:
            more()
        st.button(
            "Show everything" if on else "Presenter mode",
            key=f"{key}-present",
            icon=":material/fullscreen_exit:" if on else ":material/slideshow:",
            type="tertiary",
            on_click=state.of(_ON).update,
            args=({state.PRESENT: not on},),
            help=None if on else "Hides navigation, sidebar and settings. The address says so.",
        )
