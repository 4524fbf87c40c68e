"""A guided tour: one idea a screen."""

from __future__ import annotations

import streamlit as st

from pages.components.shell import draw


def main() -> None:
    """The page, top to bottom."""
    st.html("<h1>Learn</h1>")


draw(main)
