"""Which of the two themes the browser shows."""

from __future__ import annotations

import streamlit as st


def theme() -> str:
    """ "light" or "dark", as the browser shows the app."""
    return "dark" if st.context.theme.type == "dark" else "light"
