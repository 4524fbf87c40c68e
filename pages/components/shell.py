"""Every page is drawn inside the app."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

_INSIDE = "inside_app"


def enter() -> None:
    """Note that app.py has set the page up; app.py calls it."""
    st.session_state[_INSIDE] = True


def draw(page: Callable[[], None]) -> None:
    """Draw a page, if need be with the app around it.

    Until ``st.navigation`` is called for the first time in a server's life, Streamlit takes the
    folder ``pages`` for its own kind of pages, and an address like ``/data`` would start that
    file alone: without navigation, style and wide layout.
    """
    if st.session_state.get(_INSIDE):
        page()
        return
    from app import main

    main()
