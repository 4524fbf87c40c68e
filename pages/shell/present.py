"""Presenter mode: the page alone, without what is around it; and how a page is printed."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from engine.params import Spec
from pages.shell import state

_ON = (Spec(name=state.PRESENT, kind="bool", default=False, title="Presenter mode"),)
_AROUND = (
    '[data-testid="stSidebar"], [data-testid="stSidebarCollapsedControl"], '
    '[data-testid="stExpandSidebarButton"], [data-testid="stHeader"], '
    '[data-testid="stToolbar"], .st-key-around'
)
_PRINT = (
    f"@media print {{{_AROUND}, .st-key-aside, [class*='st-key-notes'] "
    "{display: none !important} "
    ".stMainBlockContainer {padding: 0 !important; max-width: none !important} "
    "section, .stMain, .stApp, .stAppViewContainer {position: static !important; "
    "overflow: visible !important; height: auto !important} "
    "figure, li {break-inside: avoid} @page {margin: 14mm}}"
)
_HIDE = (
    f"{_AROUND} {{display: none !important}} "
    ".stMainBlockContainer {padding: 0 2.2rem 1rem !important} "
    # Read from the last row: type grows with the screen, and no picture makes room for it (--rem is
    # what the scenes leave free for the rest of a page, in their own style sheet).
    ":root {font-size: clamp(16px, 1.2vw, 24px); --rem: 16px}"
)
# The buttons stand next to the strip as long as both fit, below it else: never over it.
_HEAD = ".st-key-head {flex-wrap: wrap; row-gap: 0} .st-key-head > :last-child {margin-left: auto}"
_ROOM = ".stMainBlockContainer {padding-bottom: .5rem}"


def presenting() -> bool:
    """Whether the address asks for presenter mode."""
    return bool(state.of(_ON)[state.PRESENT])


def heading(strip: Callable[[], None], *, key: str, more: Callable[[], None] | None = None) -> None:
    """The page's strip, and next to it the button that turns presenter mode on or off.

    ``more`` draws buttons before it.
    """
    on = presenting()
    st.html(f"<style>{_PRINT} {_HEAD} {_HIDE if on else _ROOM}</style>")
    head = st.container(key="head", horizontal=True, vertical_alignment="center", gap="medium")
    with head.container(key="around", width="content"):
        strip()
    with head.container(key="aside", horizontal=True, width="content"):
        if more is not None:
            more()
        st.button(
            "Show everything" if on else "Presenter mode",
            key=f"{key}-present",
            icon=":material/fullscreen_exit:" if on else ":material/slideshow:",
            type="tertiary",
            on_click=_turn,
            args=(not on,),
            help=None if on else "Hides navigation, sidebar and settings. The address says so.",
        )


def _turn(on: bool) -> None:
    state.of(_ON)[state.PRESENT] = on
